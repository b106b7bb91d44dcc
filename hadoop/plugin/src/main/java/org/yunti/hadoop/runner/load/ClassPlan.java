package org.yunti.hadoop.runner.load;

import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;
import java.net.URL;
import java.util.Arrays;
import java.util.Collection;
import org.apache.hadoop.io.Text;

/** Where a job's classes are, and what its tasks may share of them. A worker gets it from the job. */
public final class ClassPlan {
  final URL[] jars;
  /** Places of classes that tasks load anew although the JVM's own class path has them. */
  final URL[] again;
  /** True if classes of the jars come before Hadoop's. */
  final boolean ownFirst;
  /** True if static fields can change, so each task has the classes for itself. */
  final boolean keepsState;

  ClassPlan(Collection<URL> jars, Collection<URL> again, boolean ownFirst, boolean keepsState) {
    this.jars = jars.toArray(new URL[0]);
    this.again = again.toArray(new URL[0]);
    this.ownFirst = ownFirst;
    this.keepsState = keepsState;
  }

  public URL[] jars() {
    return jars.clone();
  }

  /** Writes what {@link #read} reads. */
  public void write(DataOutput to) throws IOException {
    write(to, jars);
    write(to, again);
    to.writeBoolean(ownFirst);
    to.writeBoolean(keepsState);
  }

  public static ClassPlan read(DataInput from) throws IOException {
    URL[] jars = readPlaces(from);
    URL[] again = readPlaces(from);
    return new ClassPlan(Arrays.asList(jars), Arrays.asList(again), from.readBoolean(), from.readBoolean());
  }

  private static void write(DataOutput to, URL[] places) throws IOException {
    to.writeInt(places.length);
    for (URL place : places) {
      Text.writeString(to, place.toString());
    }
  }

  private static URL[] readPlaces(DataInput from) throws IOException {
    URL[] places = new URL[from.readInt()];
    for (int i = 0; i < places.length; i++) {
      places[i] = new URL(Text.readString(from));
    }
    return places;
  }
}
