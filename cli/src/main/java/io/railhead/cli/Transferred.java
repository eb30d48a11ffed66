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
 * @param via the transport; both, if some parts fell back to HTTP
 * @param cache the gateway's cache result; empty for a write, and without a gateway
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

    /** Returns the result that all parts had, else the count of each result. */
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

    /** Returns text such as {@code 45,340 bytes, 12 ms, loopback, hit}. */
    @Override
    public String toString() {
        return String.format(Locale.ROOT, "%,d bytes, %,d ms, %s%s", bytes, millis, via,
                cache.isEmpty() ? "" : ", " + cache);
    }
}
