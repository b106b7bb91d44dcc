import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.ObjectMapper;

/** Gives the mapper for the messages. */
final class Codec {
    private static final boolean PER_THREAD = System.getProperty("codec", "thread").equals("thread");
    private static final ObjectMapper SHARED = make();
    private static final ThreadLocal<ObjectMapper> MINE = ThreadLocal.withInitial(Codec::make);

    private Codec() { }

    private static ObjectMapper make() {
        return new ObjectMapper().configure(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES, false);
    }

    static ObjectMapper mapper() {
        return PER_THREAD ? MINE.get() : SHARED;
    }
}
