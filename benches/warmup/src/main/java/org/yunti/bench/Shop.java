package org.yunti.bench;

import java.io.StringWriter;
import java.util.ArrayList;
import java.util.List;
import java.util.Properties;

import org.apache.velocity.VelocityContext;
import org.apache.velocity.app.VelocityEngine;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;

/** Shop with a search page of 56 KB: Spring Boot, its JSON, and a Velocity template. */
@SpringBootApplication
@RestController
public class Shop {
    /** Item of a page. */
    public record Item(int number, String name, double price, List<String> tags) {}

    private final VelocityEngine velocity;

    public Shop() {
        Properties settings = new Properties();
        settings.setProperty("resource.loaders", "class");
        settings.setProperty("resource.loader.class.class",
            "org.apache.velocity.runtime.resource.loader.ClasspathResourceLoader");
        settings.setProperty("resource.loader.class.cache", "true");
        velocity = new VelocityEngine(settings);
    }

    @GetMapping(value = "/search", produces = "text/html")
    public String search(@RequestParam(name = "page", defaultValue = "1") int page) {
        VelocityContext context = new VelocityContext();
        context.put("page", page);
        context.put("items", items(page, 200));
        StringWriter out = new StringWriter(80_000);
        velocity.getTemplate("search.vm").merge(context, out);
        return out.toString();
    }

    @GetMapping("/items")
    public List<Item> json(@RequestParam(name = "page", defaultValue = "1") int page) {
        return items(page, 50);
    }

    private static List<Item> items(int page, int count) {
        List<Item> items = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            int number = page * 1000 + i;
            items.add(new Item(number, "Item <" + number + ">", number * 0.99, List.of("new", "t" + number % 7, "sale")));
        }
        return items;
    }

    public static void main(String[] arguments) {
        SpringApplication.run(Shop.class, arguments);
    }
}
