package loyalty;

import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;

class PointsClient {
    private final Rest rest;
    private final int port;
    private final TokenKeeper tokens;

    PointsClient(Rest rest, int port, TokenKeeper tokens) {
        this.rest = rest;
        this.port = port;
        this.tokens = tokens;
    }

    ObjectNode balance(String member) throws IOException {
        String bearer = tokens.current();
        ObjectNode n = (ObjectNode) rest.get(port, "/members/" + member, bearer);
        return n.put("member", member).put("euro", n.get("points").asInt() / 100.0);
    }
}
