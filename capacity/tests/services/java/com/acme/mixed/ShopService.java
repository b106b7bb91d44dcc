package com.acme.mixed;

import com.acme.web.Options;
import com.acme.web.UndertowWeb;
import com.acme.work.Remote;
import com.acme.work.Work;
import java.io.IOException;

/** Shop: a search is dear, an item is cheap, and the cart is changed by one request at a time. */
public final class ShopService {
    private final Remote index;
    private final Remote items;
    private final Cart cart;
    private final int rounds;

    private ShopService(Options options) {
        index = new Remote(options.number("index"));
        items = new Remote(options.number("items"));
        cart = new Cart(new Remote(options.number("carts")));
        rounds = options.number("sort");
    }

    public static void main(String[] args) throws Exception {
        Options options = new Options(args);
        ShopService shop = new ShopService(options);
        UndertowWeb.start(options, shop::answer);
    }

    private String answer(String path) throws IOException {
        switch (path) {
            case "/search":
                return search();
            case "/item":
                return item();
            case "/cart":
                return cart.add() + Work.sort(rounds);
            default:
                throw new IOException("no page " + path);
        }
    }

    private String search() throws IOException {
        return index.call() + Work.sort(rounds * 6);
    }

    private String item() throws IOException {
        return items.call() + Work.sort(rounds);
    }
}

/** Cart: its monitor is held during the call that stores it. */
final class Cart {
    private final Remote store;
    private int size;

    Cart(Remote store) {
        this.store = store;
    }

    synchronized String add() throws IOException {
        size++;
        return store.call() + size;
    }
}
