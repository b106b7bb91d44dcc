package com.acme.web;

import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import org.apache.catalina.Context;
import org.apache.catalina.connector.Connector;
import org.apache.catalina.startup.Tomcat;

/** Service in an embedded Tomcat. */
public final class TomcatWeb {
    private TomcatWeb() {}

    public static void start(Options options, Page page) throws Exception {
        Tomcat tomcat = new Tomcat();
        File folder = Files.createTempDirectory("tomcat").toFile();
        folder.deleteOnExit();
        tomcat.setBaseDir(folder.getPath());
        Connector connector = new Connector();
        connector.setPort(options.port());
        connector.setProperty("address", "127.0.0.1");
        connector.setProperty("maxThreads", String.valueOf(options.threads()));
        connector.setProperty("minSpareThreads", String.valueOf(options.threads()));
        connector.setProperty("maxKeepAliveRequests", "-1");
        tomcat.setConnector(connector);
        Context context = tomcat.addContext("", folder.getPath());
        Tomcat.addServlet(context, "page", new PageServlet(page));
        context.addServletMappingDecoded("/", "page");
        tomcat.start();
        System.out.println("ready " + connector.getLocalPort());
    }

    private static final class PageServlet extends HttpServlet {
        private final transient Page page;

        PageServlet(Page page) {
            this.page = page;
        }

        @Override
        protected void doGet(HttpServletRequest request, HttpServletResponse response)
                throws ServletException, IOException {
            byte[] body;
            try {
                body = page.answer(request.getRequestURI()).getBytes(StandardCharsets.UTF_8);
            } catch (Exception e) {
                throw new ServletException(e);
            }
            response.setContentType("text/plain;charset=utf-8");
            response.setContentLength(body.length);
            response.getOutputStream().write(body);
        }
    }
}
