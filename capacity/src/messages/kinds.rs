//! Table of frames that turn objects into bytes or back: by the prefix of the frame's name, its library and kind.
//!
//! The longest prefix wins, so that `org.apache.avro.io.JsonDecoder` may be apart from `org.apache.avro`.

use serde::Serialize;

/// Kind of work on a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    Json,
    JavaSerialisation,
    Binary,
    Xml,
    Charset,
    Compression,
    Base64,
}

impl Kind {
    /// Returns the name for people.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Json => "JSON",
            Kind::JavaSerialisation => "Java serialisation",
            Kind::Binary => "binary",
            Kind::Xml => "XML",
            Kind::Charset => "charset",
            Kind::Compression => "compression",
            Kind::Base64 => "Base64",
        }
    }
}

/// Direction of the work: objects to bytes, or back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Direction {
    Read,
    Write,
    Unknown,
}

impl Direction {
    /// Returns the name for people.
    pub fn name(self) -> &'static str {
        match self {
            Direction::Read => "read",
            Direction::Write => "write",
            Direction::Unknown => "-",
        }
    }
}

/// Library that a frame belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
pub struct Serialiser {
    pub kind: Kind,
    pub library: &'static str,
}

const fn of(kind: Kind, library: &'static str) -> Serialiser {
    Serialiser { kind, library }
}

/// Prefixes of frames. A prefix that ends with a point names a package, else a class or a method.
const PREFIXES: &[(&str, Serialiser)] = &[
    ("com.fasterxml.jackson.", of(Kind::Json, "jackson")),
    ("tools.jackson.", of(Kind::Json, "jackson")),
    ("com.google.gson.", of(Kind::Json, "gson")),
    ("com.alibaba.fastjson.", of(Kind::Json, "fastjson")),
    ("com.alibaba.fastjson2.", of(Kind::Json, "fastjson2")),
    ("org.eclipse.yasson.", of(Kind::Json, "jsonb")),
    ("jakarta.json.", of(Kind::Json, "jsonb")),
    ("javax.json.", of(Kind::Json, "jsonb")),
    ("org.glassfish.json.", of(Kind::Json, "jsonb")),
    ("org.apache.johnzon.", of(Kind::Json, "jsonb")),
    ("com.squareup.moshi.", of(Kind::Json, "moshi")),
    ("org.json.simple.", of(Kind::Json, "json-simple")),
    ("org.json.", of(Kind::Json, "org.json")),
    ("net.sf.json.", of(Kind::Json, "json-lib")),
    ("com.dslplatform.json.", of(Kind::Json, "dsl-json")),
    ("kotlinx.serialization.", of(Kind::Json, "kotlinx")),
    ("io.circe.", of(Kind::Json, "circe")),
    ("java.io.ObjectOutputStream", of(Kind::JavaSerialisation, "java")),
    ("java.io.ObjectInputStream", of(Kind::JavaSerialisation, "java")),
    ("java.io.ObjectStreamClass", of(Kind::JavaSerialisation, "java")),
    ("org.jboss.marshalling.", of(Kind::JavaSerialisation, "jboss-marshalling")),
    ("com.google.protobuf.", of(Kind::Binary, "protobuf")),
    ("io.grpc.protobuf.", of(Kind::Binary, "protobuf")),
    ("org.apache.thrift.", of(Kind::Binary, "thrift")),
    ("org.apache.avro.", of(Kind::Binary, "avro")),
    ("com.esotericsoftware.kryo.", of(Kind::Binary, "kryo")),
    ("org.apache.fory.", of(Kind::Binary, "fory")),
    ("org.apache.fury.", of(Kind::Binary, "fory")),
    ("io.fury.", of(Kind::Binary, "fory")),
    ("org.nustaq.serialization.", of(Kind::Binary, "fst")),
    ("com.caucho.hessian.", of(Kind::Binary, "hessian")),
    ("com.alibaba.com.caucho.hessian.", of(Kind::Binary, "hessian")),
    ("com.alipay.hessian.", of(Kind::Binary, "hessian")),
    ("org.msgpack.", of(Kind::Binary, "msgpack")),
    ("io.protostuff.", of(Kind::Binary, "protostuff")),
    ("org.bson.", of(Kind::Binary, "bson")),
    ("javax.xml.bind.", of(Kind::Xml, "jaxb")),
    ("jakarta.xml.bind.", of(Kind::Xml, "jaxb")),
    ("com.sun.xml.bind.", of(Kind::Xml, "jaxb")),
    ("org.glassfish.jaxb.", of(Kind::Xml, "jaxb")),
    ("com.thoughtworks.xstream.", of(Kind::Xml, "xstream")),
    ("com.ctc.wstx.", of(Kind::Xml, "woodstox")),
    ("com.fasterxml.aalto.", of(Kind::Xml, "aalto")),
    ("javax.xml.stream.", of(Kind::Xml, "jdk-xml")),
    ("javax.xml.parsers.", of(Kind::Xml, "jdk-xml")),
    ("javax.xml.transform.", of(Kind::Xml, "jdk-xml")),
    ("com.sun.org.apache.xerces.", of(Kind::Xml, "jdk-xml")),
    ("com.sun.org.apache.xalan.", of(Kind::Xml, "jdk-xml")),
    ("org.apache.xerces.", of(Kind::Xml, "xerces")),
    ("org.dom4j.", of(Kind::Xml, "dom4j")),
    ("sun.nio.cs.", of(Kind::Charset, "charset")),
    ("java.nio.charset.", of(Kind::Charset, "charset")),
    ("java.lang.StringCoding.", of(Kind::Charset, "charset")),
    ("java.lang.StringCoding$", of(Kind::Charset, "charset")),
    ("java.lang.String.getBytes", of(Kind::Charset, "charset")),
    ("java.lang.String.encode", of(Kind::Charset, "charset")),
    ("java.lang.String.decode", of(Kind::Charset, "charset")),
    ("java.io.OutputStreamWriter.", of(Kind::Charset, "charset")),
    ("java.io.InputStreamReader.", of(Kind::Charset, "charset")),
    ("java.util.zip.Deflater", of(Kind::Compression, "java.util.zip")),
    ("java.util.zip.Inflater", of(Kind::Compression, "java.util.zip")),
    ("java.util.zip.GZIP", of(Kind::Compression, "java.util.zip")),
    ("java.util.zip.CRC32", of(Kind::Compression, "java.util.zip")),
    ("java.util.zip.Checked", of(Kind::Compression, "java.util.zip")),
    ("com.github.luben.zstd.", of(Kind::Compression, "zstd")),
    ("net.jpountz.", of(Kind::Compression, "lz4")),
    ("org.xerial.snappy.", of(Kind::Compression, "snappy")),
    ("org.iq80.snappy.", of(Kind::Compression, "snappy")),
    ("io.airlift.compress.", of(Kind::Compression, "aircompressor")),
    ("com.aayushatharva.brotli4j.", of(Kind::Compression, "brotli")),
    ("java.util.Base64", of(Kind::Base64, "base64")),
    ("org.apache.commons.codec.binary.Base64", of(Kind::Base64, "base64")),
    ("jakarta.xml.bind.DatatypeConverter", of(Kind::Base64, "base64")),
    ("javax.xml.bind.DatatypeConverter", of(Kind::Base64, "base64")),
];

/// Frames below which classes are loaded: their jars are inflated, which is no work on a message.
const LOADERS: &[&str] =
    &["jdk.internal.loader.", "java.util.jar.", "java.util.zip.ZipFile", "java.lang.ClassLoader.loadClass"];

/// Packages of the JDK, of servers and of frameworks: no call site of an application.
const FRAMEWORKS: &[&str] = &[
    "java.",
    "javax.",
    "jakarta.",
    "jdk.",
    "sun.",
    "com.sun.",
    "kotlin.",
    "kotlinx.",
    "scala.",
    "groovy.",
    "reactor.",
    "rx.",
    "io.reactivex.",
    "io.netty.",
    "io.vertx.",
    "io.undertow.",
    "io.grpc.",
    "io.micronaut.",
    "io.quarkus.",
    "org.apache.catalina.",
    "org.apache.coyote.",
    "org.apache.tomcat.",
    "org.apache.dubbo.",
    "org.apache.cxf.",
    "org.apache.http.",
    "org.apache.hc.",
    "org.apache.kafka.",
    "org.eclipse.jetty.",
    "org.glassfish.",
    "org.jboss.",
    "org.wildfly.",
    "org.springframework.",
    "org.xnio.",
    "okhttp3.",
    "retrofit2.",
    "feign.",
    "akka.",
    "org.apache.pekko.",
    "play.",
    "com.alibaba.dubbo.",
    "com.codahale.",
    "org.slf4j.",
    "ch.qos.",
    "org.apache.logging.",
    "com.zaxxer.",
    "redis.clients.",
    "io.lettuce.",
    "org.redisson.",
    "org.hibernate.",
    "com.mysql.",
    "org.postgresql.",
];

/// Beginnings of method names by direction.
const METHODS: &[(&str, Direction)] = &[
    ("read", Direction::Read),
    ("_read", Direction::Read),
    ("parse", Direction::Read),
    ("from", Direction::Read),
    ("decode", Direction::Read),
    ("deserialize", Direction::Read),
    ("unmarshal", Direction::Read),
    ("inflate", Direction::Read),
    ("uncompress", Direction::Read),
    ("decompress", Direction::Read),
    ("merge", Direction::Read),
    ("write", Direction::Write),
    ("_write", Direction::Write),
    ("to", Direction::Write),
    ("encode", Direction::Write),
    ("serialize", Direction::Write),
    ("marshal", Direction::Write),
    ("deflate", Direction::Write),
    ("compress", Direction::Write),
    ("getBytes", Direction::Write),
    ("getSerializedSize", Direction::Write),
];

/// Parts of class names by direction.
const CLASSES: &[(&str, Direction)] = &[
    ("Input", Direction::Read),
    ("Reader", Direction::Read),
    ("Parser", Direction::Read),
    ("Decoder", Direction::Read),
    ("Deserializ", Direction::Read),
    ("Inflater", Direction::Read),
    ("Unmarshal", Direction::Read),
    ("Output", Direction::Write),
    ("Writer", Direction::Write),
    ("Generator", Direction::Write),
    ("Encoder", Direction::Write),
    ("Serializ", Direction::Write),
    ("Deflater", Direction::Write),
    ("Marshal", Direction::Write),
];

/// Returns the library of a frame, or `None` for another frame.
pub fn serialiser(frame: &str) -> Option<Serialiser> {
    PREFIXES
        .iter()
        .filter(|(prefix, _)| frame.starts_with(prefix))
        .max_by_key(|(prefix, _)| prefix.len())
        .map(|(_, serialiser)| *serialiser)
}

/// Returns true if the frame loads classes.
pub fn is_loader(frame: &str) -> bool {
    LOADERS.iter().any(|prefix| frame.starts_with(prefix))
}

/// Returns true for a Java method of the application: neither of a library of the tables nor native.
pub fn is_application(frame: &str) -> bool {
    is_java(frame) && serialiser(frame).is_none() && !FRAMEWORKS.iter().any(|prefix| frame.starts_with(prefix))
}

/// Returns true for the name of a Java method: `a.b.Class.method`, without signs of C++.
pub fn is_java(frame: &str) -> bool {
    let is_name = |c: char| c.is_alphanumeric() || "._$<>/+-".contains(c);
    frame.contains('.') && !frame.contains("::") && !frame.contains(".so") && frame.chars().all(is_name)
}

/// Returns the direction that a frame's method, or else its class, names.
pub fn direction(frame: &str) -> Direction {
    let (class, method) = frame.rsplit_once('.').unwrap_or(("", frame));
    let class = class.rsplit('.').next().unwrap_or_default();
    let by_method = METHODS.iter().find(|(prefix, _)| begins_word(method, prefix)).map(|(_, direction)| *direction);
    let by_class = || CLASSES.iter().find(|(part, _)| class.contains(part)).map(|(_, direction)| *direction);
    by_method.or_else(by_class).unwrap_or(Direction::Unknown)
}

/// Returns true if `method` begins with the word `prefix`: `toJson` begins with `to`, `token` does not.
fn begins_word(method: &str, prefix: &str) -> bool {
    method.strip_prefix(prefix).is_some_and(|rest| !rest.starts_with(|c: char| c.is_ascii_lowercase()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_the_library_of_a_frame() {
        let cases = [
            ("com.fasterxml.jackson.databind.ObjectMapper.writeValueAsBytes", Some((Kind::Json, "jackson"))),
            ("com.alibaba.fastjson2.JSON.parseObject", Some((Kind::Json, "fastjson2"))),
            ("com.alibaba.fastjson.JSON.parseObject", Some((Kind::Json, "fastjson"))),
            ("com.google.gson.Gson.toJson", Some((Kind::Json, "gson"))),
            ("com.google.protobuf.AbstractMessageLite.toByteArray", Some((Kind::Binary, "protobuf"))),
            ("java.io.ObjectOutputStream$BlockDataOutputStream.writeUTF", Some((Kind::JavaSerialisation, "java"))),
            ("java.io.ObjectInput.readObject", None),
            ("java.io.BufferedOutputStream.flush", None),
            ("java.lang.String.getBytes", Some((Kind::Charset, "charset"))),
            ("java.lang.String.substring", None),
            ("java.lang.StringCoding.hasNegatives", Some((Kind::Charset, "charset"))),
            ("sun.nio.cs.UTF_8$Encoder.encodeArrayLoop", Some((Kind::Charset, "charset"))),
            ("java.util.zip.Deflater.deflateBytesBytes", Some((Kind::Compression, "java.util.zip"))),
            ("java.util.zip.ZipFile.getEntry", None),
            ("java.util.Base64$Encoder.encode", Some((Kind::Base64, "base64"))),
            ("org.json.simple.JSONObject.toJSONString", Some((Kind::Json, "json-simple"))),
            ("shop.Json.write", None),
        ];
        for (frame, expected) in cases {
            assert_eq!(serialiser(frame).map(|s| (s.kind, s.library)), expected, "{frame}");
        }
    }

    #[test]
    fn prefixes_are_unlike() {
        for (i, (prefix, _)) in PREFIXES.iter().enumerate() {
            assert!(!PREFIXES[..i].iter().any(|(other, _)| other == prefix), "{prefix} is there twice");
        }
    }

    #[test]
    fn tells_reading_from_writing() {
        let cases = [
            ("com.fasterxml.jackson.databind.ObjectMapper.writeValueAsBytes", Direction::Write),
            ("com.fasterxml.jackson.databind.ObjectMapper._readMapAndClose", Direction::Read),
            ("com.google.gson.Gson.toJson", Direction::Write),
            ("com.google.gson.Gson.fromJson", Direction::Read),
            ("com.google.gson.stream.JsonReader.nextToken", Direction::Read),
            ("java.io.ObjectInputStream.<init>", Direction::Read),
            ("java.io.ObjectStreamClass.lookup", Direction::Unknown),
            ("com.google.protobuf.AbstractParser.parseFrom", Direction::Read),
            ("com.google.protobuf.GeneratedMessageV3.getSerializedSize", Direction::Write),
            ("com.alibaba.fastjson2.JSON.toJSONString", Direction::Write),
            ("a.Lexer.token", Direction::Unknown),
        ];
        for (frame, expected) in cases {
            assert_eq!(direction(frame), expected, "{frame}");
        }
    }

    #[test]
    fn knows_methods_of_the_application() {
        for (frame, expected) in [
            ("shop.Orders.list", true),
            ("Shop.json", true),
            ("org.springframework.web.servlet.DispatcherServlet.doDispatch", false),
            ("com.fasterxml.jackson.databind.ObjectMapper.writeValue", false),
            ("JavaThread::thread_main_inner", false),
            ("libc.so.6", false),
            ("clone3", false),
        ] {
            assert_eq!(is_application(frame), expected, "{frame}");
        }
    }
}
