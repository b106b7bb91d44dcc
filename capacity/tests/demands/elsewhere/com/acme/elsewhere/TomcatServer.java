package com.acme.elsewhere;

import java.io.File;
import java.nio.file.Files;
import org.apache.catalina.Context;
import org.apache.catalina.Wrapper;
import org.apache.catalina.connector.Connector;
import org.apache.catalina.startup.Tomcat;

/** Asynchronous servlet in Tomcat. */
public final class TomcatServer {
    private TomcatServer() {}

    public static void main(String[] words) throws Exception {
        Tomcat tomcat = new Tomcat();
        File folder = Files.createTempDirectory("tomcat").toFile();
        folder.deleteOnExit();
        tomcat.setBaseDir(folder.getPath());
        Connector connector = new Connector();
        connector.setPort(0);
        connector.setProperty("address", "127.0.0.1");
        connector.setProperty("maxThreads", "8");
        connector.setProperty("minSpareThreads", "8");
        connector.setProperty("maxKeepAliveRequests", "-1");
        tomcat.setConnector(connector);
        Context context = tomcat.addContext("", folder.getPath());
        Wrapper wrapper = Tomcat.addServlet(context, "answers", new AnswersServlet());
        wrapper.setAsyncSupported(true);
        context.addServletMappingDecoded("/", "answers");
        tomcat.start();
        System.out.println("ready " + connector.getLocalPort());
        tomcat.getServer().await();
    }
}
