//! HTTP servers in Java: the method of each that handles a request from begin to end.

/// Name, class and method of each server. The one that covers more of a request comes first: the server before the
/// servlets in it.
const SERVERS: [(&str, &str, &str); 7] = [
    ("Tomcat", "org.apache.catalina.connector.CoyoteAdapter", "service"),
    ("Jetty", "org.eclipse.jetty.server.Server", "handle"),
    ("Undertow", "io.undertow.server.Connectors", "executeRootHandler"),
    ("the JDK's HTTP server", "sun.net.httpserver.ServerImpl$Exchange", "run"),
    ("Grizzly", "org.glassfish.grizzly.http.server.HttpHandler", "runService"),
    ("jakarta servlets", "jakarta.servlet.http.HttpServlet", "service"),
    ("javax servlets", "javax.servlet.http.HttpServlet", "service"),
];

/// Returns the server's name and its method; `None` if no known server is loaded.
///
/// @param loaded classes, sorted
pub fn server(loaded: &[String]) -> Option<(&'static str, String)> {
    let is_loaded = |class: &str| loaded.binary_search_by(|other| other.as_str().cmp(class)).is_ok();
    SERVERS
        .iter()
        .find(|(_, class, _)| is_loaded(class))
        .map(|(name, class, method)| (*name, format!("{class}.{method}")))
}

/// Returns the names of all known servers.
pub fn known() -> String {
    SERVERS.map(|(name, ..)| name).join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn servers() {
        let both =
            ["jakarta.servlet.http.HttpServlet", "java.lang.Object", "org.apache.catalina.connector.CoyoteAdapter"];
        let both = both.map(str::to_owned);
        assert_eq!(server(&both), Some(("Tomcat", "org.apache.catalina.connector.CoyoteAdapter.service".to_owned())));
        assert_eq!(server(&["java.lang.Object".to_owned()]), None);
    }
}
