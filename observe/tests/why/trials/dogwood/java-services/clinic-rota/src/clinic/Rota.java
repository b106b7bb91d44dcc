package clinic;

import java.util.*;
import java.util.concurrent.*;
import java.util.function.Supplier;

class Rota {
    private static final List<String> WARDS = List.of("cardio", "ortho", "neuro", "paeds", "derma");
    private final WardClient wards;
    private final Executor executor;

    Rota(WardClient wards, Executor executor) {
        this.wards = wards;
        this.executor = executor;
    }

    String day(int day) {
        List<CompletableFuture<Integer>> asked = WARDS.stream().map(w -> ask(() -> wards.free(w, day))).toList();
        int[] free = asked.stream().mapToInt(CompletableFuture::join).toArray();
        return "{\"day\":" + day + ",\"hours\":" + Arrays.stream(free).sum() + "}";
    }

    private CompletableFuture<Integer> ask(Supplier<Integer> question) {
        return executor == null
            ? CompletableFuture.supplyAsync(question)
            : CompletableFuture.supplyAsync(question, executor);
    }
}
