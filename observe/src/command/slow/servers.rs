//! HTTP servers of Java: which method handles a request from begin to end.

/// The more is seen of a request, the earlier: of a server and the servlets in it, the server.
const SERVERS: [(&str, &str, &str); 7] = [
    ("Tomcat", "org.apache.catalina.connector.CoyoteAdapter", "service"),
    ("Jetty", "org.eclipse.jetty.server.Server", "handle"),
    ("Undertow", "io.undertow.server.Connectors", "executeRootHandler"),
    ("the JDK's HTTP server", "sun.net.httpserver.ServerImpl$Exchange", "run"),
    ("Grizzly", "org.glassfish.grizzly.http.server.HttpHandler", "runService"),
    ("jakarta servlets", "jakarta.servlet.http.HttpServlet", "service"),
    ("javax servlets", "javax.servlet.http.HttpServlet", "service"),
];

/// Its name and the method.
///
/// @param loaded classes, sorted
pub fn server(loaded: &[String]) -> Option<(&'static str, String)> {
    let is_loaded = |class: &str| loaded.binary_search_by(|other| other.as_str().cmp(class)).is_ok();
    SERVERS
        .iter()
        .find(|(_, class, _)| is_loaded(class))
        .map(|(name, class, method)| (*name, format!("{class}.{method}")))
}

/// The names of all.
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
