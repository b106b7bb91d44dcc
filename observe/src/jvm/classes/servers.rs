//! HTTP and RPC servers in Java: the method of each at which a request begins.

/// Server in Java.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Server {
    pub name: &'static str,
    class: &'static str,
    method: &'static str,
    /// Method that is on the stack while the thread of the method works for requests; absent: the method itself.
    around: Option<&'static str>,
}

/// All servers. The one that covers more of a request comes first: the server before the servlets in it.
const SERVERS: [Server; 9] = [
    server_of("Tomcat", "org.apache.catalina.connector.CoyoteAdapter", "service"),
    server_of("Jetty", "org.eclipse.jetty.server.Server", "handle"),
    server_of("Undertow", "io.undertow.server.Connectors", "executeRootHandler"),
    Server {
        around: Some("io.netty.handler.codec.ByteToMessageDecoder.channelRead"),
        ..server_of("Netty", "io.netty.handler.codec.http.HttpRequestDecoder", "createMessage")
    },
    Server {
        around: Some("io.grpc.internal.SerializingExecutor.run"),
        ..server_of("gRPC", "io.grpc.internal.ServerImpl$ServerTransportListenerImpl", "streamCreated")
    },
    server_of("the JDK's HTTP server", "sun.net.httpserver.ServerImpl$Exchange", "run"),
    server_of("Grizzly", "org.glassfish.grizzly.http.server.HttpHandler", "runService"),
    server_of("jakarta servlets", "jakarta.servlet.http.HttpServlet", "service"),
    server_of("javax servlets", "javax.servlet.http.HttpServlet", "service"),
];

const fn server_of(name: &'static str, class: &'static str, method: &'static str) -> Server {
    Server { name, class, method, around: None }
}

impl Server {
    /// Returns the method at which a request begins.
    pub fn method(&self) -> String {
        format!("{}.{}", self.class, self.method)
    }

    /// Returns the method that is on the stack while a thread works for requests.
    pub fn around(&self) -> String {
        self.around.map_or_else(|| self.method(), str::to_owned)
    }

    /// Returns true if the method lasts as long as a request, unless the program goes on with it elsewhere.
    fn is_whole(&self) -> bool {
        self.around.is_none()
    }
}

/// Returns the first known server that is loaded, or whose method has this name.
///
/// @param loaded classes, sorted
pub fn server(loaded: &[String]) -> Option<Server> {
    SERVERS.into_iter().find(|server| is_loaded(server, loaded))
}

/// Returns the first known server that is loaded and whose method is the whole request.
pub fn whole_server(loaded: &[String]) -> Option<Server> {
    SERVERS.into_iter().find(|server| server.is_whole() && is_loaded(server, loaded))
}

/// Returns the server whose requests begin at a method.
pub fn server_with(method: &str) -> Option<Server> {
    SERVERS.into_iter().find(|server| server.method() == method)
}

fn is_loaded(server: &Server, loaded: &[String]) -> bool {
    loaded.binary_search_by(|other| other.as_str().cmp(server.class)).is_ok()
}

/// Returns the names of all known servers.
pub fn known() -> String {
    SERVERS.map(|server| server.name).join(", ")
}

/// Returns the names of the servers with a method that is the whole request.
pub fn known_whole() -> String {
    let names: Vec<&str> = SERVERS.iter().filter(|server| server.is_whole()).map(|server| server.name).collect();
    names.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn servers() {
        let both =
            ["jakarta.servlet.http.HttpServlet", "java.lang.Object", "org.apache.catalina.connector.CoyoteAdapter"];
        let both = both.map(str::to_owned);
        let found = server(&both).unwrap();
        assert_eq!((found.name, &*found.method()), ("Tomcat", "org.apache.catalina.connector.CoyoteAdapter.service"));
        assert_eq!(server_with(&found.method()), Some(found));
        assert_eq!(server(&["java.lang.Object".to_owned()]), None);
        let netty = ["io.netty.handler.codec.http.HttpRequestDecoder".to_owned()];
        assert_eq!((server(&netty).map(|one| one.name), whole_server(&netty)), (Some("Netty"), None));
    }
}
