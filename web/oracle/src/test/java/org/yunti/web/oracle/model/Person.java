package org.yunti.web.oracle.model;

import java.io.IOException;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.yunti.web.oracle.Journal;
import org.yunti.web.oracle.State;

/** Bean with all kinds of members; it records each call. */
public class Person implements State {
  /** Public field: a property, after getters. */
  public String field = "field";
  public int number = 7;
  public final String constant = "constant";
  public static String shared = "shared";
  public static final int LIMIT = 99;

  private String name;
  private Object any;
  private int age = 42;
  private Person friend;

  public Person(String name) {
    this.name = name;
  }

  private <T> T note(String call, T result) {
    Journal.note(kind() + '.' + call);
    return result;
  }

  protected String kind() {
    return "person";
  }

  public String getName() {
    return note("getName", name);
  }

  public void setName(String name) {
    this.name = note("setName " + name, name);
  }

  public int getAge() {
    return note("getAge", age);
  }

  public void setAge(int age) {
    this.age = note("setAge " + age, age);
  }

  public Object getAny() {
    return note("getAny", any);
  }

  public void setAny(Object any) {
    this.any = note("setAny " + (any == null ? "null" : any.getClass().getSimpleName()), any);
  }

  public Person getFriend() {
    return note("getFriend", friend);
  }

  public void setFriend(Person friend) {
    this.friend = note("setFriend", friend);
  }

  public boolean isAdult() {
    return note("isAdult", age >= 18);
  }

  public Boolean isBoxed() {
    return note("isBoxed", Boolean.TRUE);
  }

  public Object getNothing() {
    return note("getNothing", null);
  }

  /** Getter whose name has a small letter after get. */
  public String getlower() {
    return note("getlower", "lower");
  }

  public String getURL() {
    return note("getURL", "url");
  }

  public String getFailing() throws IOException {
    throw new IOException(note("getFailing", "checked"));
  }

  public String getBroken() {
    throw new IllegalStateException(note("getBroken", "unchecked"));
  }

  public String getFatal() {
    throw new AssertionError(note("getFatal", "error"));
  }

  public void setFailing(String value) throws IOException {
    throw new IOException(note("setFailing", "checked set"));
  }

  public void setBroken(Object value) {
    throw new IllegalArgumentException(note("setBroken", "unchecked set"));
  }

  public void nothing() {
    note("nothing()", null);
  }

  public Object returnsNull() {
    return note("returnsNull()", null);
  }

  public String fail(String text) throws IOException {
    throw new IOException(note("fail", text));
  }

  public String illegal(String text) {
    throw new IllegalArgumentException(note("illegal", text));
  }

  public String error() {
    throw new AssertionError(note("error", "error"));
  }

  public String pick(Object o) {
    return note("pick(Object)", "object:" + o);
  }

  public String pick(String s) {
    return note("pick(String)", "string:" + s);
  }

  public String pick(Integer i) {
    return note("pick(Integer)", "integer:" + i);
  }

  public String pick(long l) {
    return note("pick(long)", "long:" + l);
  }

  public String pick(double d) {
    return note("pick(double)", "double:" + d);
  }

  public String pick(String a, Object b) {
    return note("pick(String,Object)", a + '/' + b);
  }

  public String pick(Object a, String b) {
    return note("pick(Object,String)", a + "//" + b);
  }

  public String only(int i) {
    return note("only(int)", "int:" + i);
  }

  public String small(byte b, short s) {
    return note("small", "byte:" + b + ",short:" + s);
  }

  public String floats(float f, double d) {
    return note("floats", "float:" + f + ",double:" + d);
  }

  public String bool(boolean b) {
    return note("bool", "boolean:" + b);
  }

  public String character(char c) {
    return note("character", "char:" + c);
  }

  public String text(String s) {
    return note("text", "text:" + s);
  }

  public String sequence(CharSequence s) {
    return note("sequence", "sequence:" + s);
  }

  public String color(Color c) {
    return note("color", "color:" + c);
  }

  public String list(List<?> l) {
    return note("list", "list:" + l);
  }

  public String map(Map<?, ?> m) {
    return note("map", "map:" + m);
  }

  public String array(Object[] a) {
    return note("array", "array:" + a.length);
  }

  public String many(String... all) {
    return note("many", "many:" + (all == null ? "null" : String.join(",", all)));
  }

  public String objects(Object... all) {
    return note("objects", "objects:" + (all == null ? "null" : Arrays.toString(all)));
  }

  public String ints(int... all) {
    return note("ints", "ints:" + Arrays.toString(all));
  }

  public String mixed(String first, Object... rest) {
    return note("mixed", first + ':' + (rest == null ? "null" : Arrays.toString(rest)));
  }

  public String mixed(String only) {
    return note("mixed(String)", "only:" + only);
  }

  public Person self() {
    return note("self", this);
  }

  public static String greet(String who) {
    return "hello " + who;
  }

  @Override
  public String state() {
    return name + ',' + age + ',' + (any == null ? "null" : any.getClass().getSimpleName()) + ',' + field + ',' + number
        + ','
        + (friend == null ? "" : friend.state());
  }

  @Override
  public String toString() {
    return note("toString", kind() + ' ' + name);
  }
}
