package io.railhead.cli;

import io.railhead.client.ObjectInfo;
import io.railhead.client.RailheadClient;
import io.railhead.client.Via;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;

/**
 * An object that was read or stored.
 *
 * @param via how its bytes went: both ways where some parts went over HTTP after all
 * @param cache what the gateway's cache had to do with it; empty of a write, and without a gateway
 */
record Transferred(String url, long bytes, long millis, String via, String cache, String etag) {

    static Transferred of(ObjectInfo object, ProgressLine progress, Via asked,
            RailheadClient client) {
        return new Transferred(object.name().toString(), object.bytes(),
                progress.elapsedNanos() / 1_000_000, way(asked, client),
                cache(client.cacheResults()), object.etag());
    }

    private static String way(Via asked, RailheadClient client) {
        long declined = client.declines().values().stream().mapToLong(Long::longValue).sum();
        if (asked == Via.HTTP || declined == 0) {
            return asked.toString();
        }
        return declined == client.parts() ? Via.HTTP.toString() : asked + " and " + Via.HTTP;
    }

    /** One word where all parts had one result, else how many had which. */
    static String cache(Map<String, Long> parts) {
        if (parts.size() == 1) {
            String only = parts.keySet().iterator().next();
            return only.equals("none") ? "" : only;
        }
        return parts.entrySet()
                .stream()
                .map(each -> each.getValue() + " " + each.getKey())
                .collect(Collectors.joining(" + "));
    }

    /** As {@code 45,340 bytes, 12 ms, loopback, hit}. */
    @Override
    public String toString() {
        return String.format(Locale.ROOT, "%,d bytes, %,d ms, %s%s", bytes, millis, via,
                cache.isEmpty() ? "" : ", " + cache);
    }
}
