package io.railhead.client;

import java.io.IOException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.function.BiFunction;
import org.jspecify.annotations.Nullable;

/**
 * Parts of one object that are requested ahead: as many at a time as there are windows. Parts that
 * are due together are requested by one message. With one thread, parts are delivered in order.
 */
final class Pipeline {
    private final Deque<PartRequest> waiting;
    private final Windows windows;
    private final BiFunction<List<PartRequest>, List<Window>, List<PartInFlight>> begin;
    private final Deque<PartInFlight> flying = new ArrayDeque<>();

    Pipeline(List<PartRequest> parts, Windows windows,
            BiFunction<List<PartRequest>, List<Window>, List<PartInFlight>> begin) {
        this.waiting = new ArrayDeque<>(parts);
        this.windows = windows;
        this.begin = begin;
    }

    void run(PartSink sink, Streams streams) throws IOException {
        Callable<Boolean> showing = () -> {
            for (PartInFlight next = next(); next != null; next = next()) {
                next.finish(sink);
            }
            return true;
        };
        try {
            streams.all(Collections.nCopies(Math.min(streams.count(), waiting.size()), showing));
        } finally {
            giveUp();
        }
    }

    private synchronized @Nullable PartInFlight next() throws IOException {
        List<Window> lent = new ArrayList<>();
        if (flying.isEmpty() && !waiting.isEmpty()) {
            lent.add(windows.lend());
        }
        Window more;
        while (lent.size() < waiting.size() && (more = windows.tryLend()) != null) {
            lent.add(more);
        }
        if (!lent.isEmpty()) {
            List<PartRequest> parts = new ArrayList<>();
            for (Window _ : lent) {
                parts.add(waiting.remove());
            }
            flying.addAll(begin.apply(parts, lent));
        }
        return flying.poll();
    }

    private synchronized void giveUp() {
        waiting.clear();
        flying.forEach(PartInFlight::giveUp);
        flying.clear();
    }
}
