package org.yunti.observe.trace.code;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.yunti.observe.trace.code.Places.About;
import org.yunti.observe.trace.code.Places.Place;
import org.yunti.observe.trace.code.Places.Role;

/**
 * HTTP and RPC servers: where each begins a request, goes on with it, knows its name, and has answered it.
 *
 * <p>Parts of a request are known by one object: the request of Tomcat, the channel of Jetty and Netty, the exchange of
 * Undertow, the stream of gRPC. So a request may end on another thread than it began on.
 */
final class Servers {
  /** Places of each server by class, for the method that the observer names as its request. */
  private static final Map<String, Map<String, List<Place>>> KNOWN = new HashMap<>();

  private Servers() {}

  /** Returns the places of the server whose method is in a list; none for other methods. */
  static Map<String, List<Place>> of(List<String> methods) {
    return methods.size() == 1 ? KNOWN.getOrDefault(methods.get(0), Map.of()) : Map.of();
  }

  private static void add(String className, String method, Map<String, List<Place>> places) {
    KNOWN.put(className + "." + method, places);
  }

  static {
    About first = About.argument(1);
    String coyote = "org.apache.catalina.connector.CoyoteAdapter";
    add(coyote, "service", Map.of(
        coyote, List.of(
            new Place("service", "", Role.REQUEST, first), new Place("service", "", Role.NAME, first),
            new Place("asyncDispatch", "", Role.PART, first)),
        "org.apache.catalina.connector.Request", List.of(
            new Place("finishRequest", "()", Role.DONE, About.field("coyoteRequest", "Lorg/apache/coyote/Request;")))));

    String jetty = "org.eclipse.jetty.server.";
    String channel = "(Lorg/eclipse/jetty/server/HttpChannel;)";
    // Up to Jetty 11 a channel is the request, from Jetty 12 on its callback is.
    String callback = "(Lorg/eclipse/jetty/server/Request;Lorg/eclipse/jetty/server/Response;"
        + "Lorg/eclipse/jetty/util/Callback;)";
    List<Place> succeeded = List.of(new Place("succeeded", "()", Role.DONE), new Place("failed", "", Role.DONE));
    add(jetty + "Server", "handle", Map.of(
        jetty + "Server", List.of(
            new Place("handle", channel, Role.REQUEST, first), new Place("handle", channel, Role.NAME, first),
            new Place("handle", callback, Role.REQUEST, About.argument(3)),
            new Place("handle", callback, Role.NAME, first)),
        jetty + "HttpChannel", List.of(
            new Place("handle", "()", Role.PART), new Place("onCompleted", "()", Role.DONE)),
        jetty + "internal.HttpChannelState$ChannelCallback", succeeded));

    // The same method handles an exchange again that it has given to a worker.
    About exchange = About.argument(2);
    add("io.undertow.server.Connectors", "executeRootHandler", Map.of(
        "io.undertow.server.Connectors", List.of(
            new Place("executeRootHandler", "", Role.REQUEST_OR_PART, exchange),
            new Place("executeRootHandler", "", Role.NAME, exchange)),
        "io.undertow.server.HttpServerExchange", List.of(
            new Place("invokeExchangeCompleteListeners", "()", Role.DONE))));

    // The exchange is known when its head is read.
    add("sun.net.httpserver.ServerImpl$Exchange", "run", Map.of(
        "sun.net.httpserver.ServerImpl$Exchange", List.of(new Place("run", "()", Role.REQUEST, About.NONE)),
        "com.sun.net.httpserver.Filter$Chain", List.of(new Place("doFilter", "", Role.NAME, first))));

    String grizzly = "org.glassfish.grizzly.http.server.HttpHandler";
    add(grizzly, "runService", Map.of(grizzly, List.of(
        new Place("runService", "", Role.REQUEST, About.NONE), new Place("runService", "", Role.NAME, first))));

    for (String servlets : new String[] {"jakarta", "javax"}) {
      String servlet = servlets + ".servlet.http.HttpServlet";
      String descriptor = "(L" + servlets + "/servlet/http/HttpServletRequest;";
      add(servlet, "service", Map.of(servlet, List.of(
          new Place("service", descriptor, Role.REQUEST, About.NONE),
          new Place("service", descriptor, Role.NAME, first))));
    }

    // One channel has one request after the other. Its event loop reads a head, and writes the end of an answer.
    String http = "io.netty.handler.codec.http.";
    String ofChannel = "()Lio/netty/channel/Channel;";
    About channelOf = new About(1, "io/netty/channel/ChannelHandlerContext", "channel", ofChannel);
    Place head = new Place("createMessage", "([Ljava/lang/String;)", Role.BEGIN, About.NONE);
    Place name = new Place("createMessage", "([Ljava/lang/String;)", Role.NAME, first);
    add(http + "HttpRequestDecoder", "createMessage", Map.of(
        "io.netty.handler.codec.ByteToMessageDecoder", List.of(new Place("channelRead",
            "(Lio/netty/channel/ChannelHandlerContext;", Role.PART, channelOf)),
        http + "HttpRequestDecoder", List.of(head, name),
        "io.vertx.core.http.impl.VertxHttpRequestDecoder", List.of(head, name),
        http + "HttpObjectEncoder", List.of(new Place("encode",
            "(Lio/netty/channel/ChannelHandlerContext;Ljava/lang/Object;Ljava/util/List;)", Role.DONE_IF, channelOf)
                .ifSecondIs("io/netty/handler/codec/http/LastHttpContent"))));

    String grpc = "io.grpc.internal.";
    About stream = About.field("stream", "Lio/grpc/internal/ServerStream;");
    add(grpc + "ServerImpl$ServerTransportListenerImpl", "streamCreated", Map.of(
        grpc + "ServerImpl$ServerTransportListenerImpl", List.of(
            new Place("streamCreated", "", Role.REQUEST, first),
            new Place("streamCreated", "", Role.NAME, About.argument(2))),
        grpc + "ServerImpl$JumpToApplicationThreadServerStreamListener", List.of(
            new Place("messagesAvailable", "", Role.PART, stream), new Place("halfClosed", "()", Role.PART, stream)),
        grpc + "AbstractServerStream", List.of(
            new Place("close", "", Role.DONE), new Place("cancel", "", Role.DONE))));
  }
}
