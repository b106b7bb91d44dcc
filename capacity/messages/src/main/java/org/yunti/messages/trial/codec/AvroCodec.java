package org.yunti.messages.trial.codec;

import java.io.ByteArrayOutputStream;
import java.lang.reflect.Type;
import java.util.List;
import org.apache.avro.Schema;
import org.apache.avro.io.BinaryDecoder;
import org.apache.avro.io.BinaryEncoder;
import org.apache.avro.io.DecoderFactory;
import org.apache.avro.io.EncoderFactory;
import org.apache.avro.reflect.ReflectData;
import org.apache.avro.reflect.ReflectDatumReader;
import org.apache.avro.reflect.ReflectDatumWriter;

/** Avro, with a schema by reflection in which all fields may be null. */
public final class AvroCodec implements Codec {
  private ReflectDatumWriter<Object> writer;
  private ReflectDatumReader<Object> reader;
  private BinaryEncoder encoder;
  private BinaryDecoder decoder;

  @Override
  public void prepare(Type type, List<Object> examples) {
    ReflectData.AllowNull data = new ReflectData.AllowNull();
    Schema schema = data.getSchema(type);
    writer = new ReflectDatumWriter<>(schema, data);
    reader = new ReflectDatumReader<>(schema, schema, data);
  }

  @Override
  public byte[] write(Object message) throws Exception {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    encoder = EncoderFactory.get().binaryEncoder(bytes, encoder);
    writer.write(message, encoder);
    encoder.flush();
    return bytes.toByteArray();
  }

  @Override
  public Object read(byte[] bytes) throws Exception {
    decoder = DecoderFactory.get().binaryDecoder(bytes, decoder);
    return reader.read(null, decoder);
  }

  @Override
  public Class<?> library() {
    return Schema.class;
  }
}
