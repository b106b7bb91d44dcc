package org.yunti.messages;

import com.sun.tools.attach.VirtualMachine;

/** Loads the agent into a JVM, by the attach API: {@code PID JAR OPTIONS}. It runs as the owner of the JVM. */
public final class Attach {
  private Attach() {}

  public static void main(String[] words) throws Exception {
    VirtualMachine machine = VirtualMachine.attach(words[0]);
    try {
      machine.loadAgent(words[1], words[2]);
    } finally {
      machine.detach();
    }
  }
}
