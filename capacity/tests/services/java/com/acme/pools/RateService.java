package com.acme.pools;

import com.acme.web.JettyWeb;
import com.acme.web.Options;
import com.acme.work.Work;
import org.apache.hc.client5.http.classic.methods.HttpGet;
import org.apache.hc.client5.http.impl.classic.CloseableHttpClient;
import org.apache.hc.client5.http.impl.classic.HttpClients;
import org.apache.hc.client5.http.impl.io.PoolingHttpClientConnectionManager;
import org.apache.hc.client5.http.impl.io.PoolingHttpClientConnectionManagerBuilder;
import org.apache.hc.core5.http.io.entity.EntityUtils;

/** Exchange rates: each request asks the bank through an HTTP client with few connections a route. */
public final class RateService {
    private RateService() {}

    public static void main(String[] args) throws Exception {
        Options options = new Options(args);
        int rounds = options.number("sort");
        PoolingHttpClientConnectionManager pool = PoolingHttpClientConnectionManagerBuilder.create()
                .setMaxConnPerRoute(options.number("connections"))
                .setMaxConnTotal(100)
                .build();
        CloseableHttpClient client = HttpClients.custom().setConnectionManager(pool).disableAutomaticRetries().build();
        String bank = "http://127.0.0.1:" + options.number("bank") + "/rates";
        JettyWeb.start(options, path -> ask(client, bank) + Work.sort(rounds));
    }

    private static String ask(CloseableHttpClient client, String bank) throws Exception {
        return client.execute(new HttpGet(bank), response -> EntityUtils.toString(response.getEntity()));
    }
}
