package org.yunti.web.oracle;

import java.io.ByteArrayInputStream;
import java.io.InputStreamReader;
import java.io.Reader;
import java.io.StringReader;
import java.io.UnsupportedEncodingException;
import java.util.LinkedHashMap;
import java.util.Map;
import org.apache.velocity.exception.ResourceNotFoundException;
import org.apache.velocity.runtime.resource.Resource;
import org.apache.velocity.runtime.resource.loader.ResourceLoader;
import org.apache.velocity.util.ExtProperties;

/**
 * Loader of templates in memory. A template is text, which may contain unpaired surrogates, or bytes. {@link #put}
 * modifies a template; its time is constant otherwise.
 */
public final class MemoryLoader extends ResourceLoader {
  private record Entry(Object content, long version) {}

  private final Map<String, Entry> entries = new LinkedHashMap<>();
  private long version = 1;

  public void put(String name, Object content) {
    entries.put(name, new Entry(content, version++));
  }

  @Override
  public void init(ExtProperties configuration) {}

  @Override
  public Reader getResourceReader(String name, String encoding) {
    Entry entry = entries.get(name);
    if (entry == null) {
      throw new ResourceNotFoundException("no template " + name);
    }
    try {
      return entry.content instanceof byte[] bytes
          ? new InputStreamReader(new ByteArrayInputStream(bytes), encoding)
          : new StringReader((String) entry.content);
    } catch (UnsupportedEncodingException e) {
      throw new ResourceNotFoundException("no encoding " + encoding, e, null);
    }
  }

  @Override
  public boolean isSourceModified(Resource resource) {
    return getLastModified(resource) != resource.getLastModified();
  }

  @Override
  public long getLastModified(Resource resource) {
    Entry entry = entries.get(resource.getName());
    return entry == null ? 0 : entry.version;
  }
}
