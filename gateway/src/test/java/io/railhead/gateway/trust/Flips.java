package io.railhead.gateway.trust;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The bits of objects that changed between the store and the gateway, and when: what is handed out
 * although it is wrong can only be wrong there. Whoever calls has the store's lock.
 */
final class Flips {
    private final LongSupplier nanoClock;
    private final Map<String, List<Flip>> flips = new TreeMap<>();

    /** @param at in the object */
    private record Flip(@Nullable String etag, int at, long atNanos) {}

    Flips(LongSupplier nanoClock) {
        this.nanoClock = nanoClock;
    }

    /** Before any of it is on the wire. */
    void changed(Message request, Message sent, Message arrives) {
        byte[] before = sent.body();
        byte[] after = arrives.body();
        if (before.length != after.length) {
            return;
        }
        int first = sent.firstByte();
        for (int i = 0; i < before.length; i++) {
            if (before[i] != after[i]) {
                flips.computeIfAbsent(request.path(), ignored -> new ArrayList<>())
                        .add(new Flip(sent.header("etag"), first + i, nanoClock.getAsLong()));
            }
        }
    }

    /** These bytes, with the bits put right that changed from then on. */
    byte[] righted(String path, Content content, byte[] bytes, int first, long fromNanos) {
        byte[] righted = bytes.clone();
        byte[] sent = content.bytes(first,
                Math.max(first, Math.min(content.sizeBytes(), first + bytes.length)));
        String etag = content.etag();
        for (Flip flip : flips.getOrDefault(path, List.of())) {
            int at = flip.at - first;
            if (flip.atNanos >= fromNanos && etag.equals(flip.etag) && at >= 0
                    && at < sent.length && (righted[at] ^ sent[at]) == Toxic.CorruptByte.BIT) {
                righted[at] = sent[at];
            }
        }
        return righted;
    }
}
