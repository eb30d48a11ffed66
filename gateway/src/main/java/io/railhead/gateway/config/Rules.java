package io.railhead.gateway.config;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** The rules in order; the first match applies. Any thread, no allocation. */
public final class Rules {
    private final Entry[] entries;

    record Entry(Match match, Rule rule) {

        private boolean saysAs(Entry other) {
            return match.equals(other.match) && rule.promisedAt(0).equals(other.rule.promisedAt(0));
        }
    }

    Rules(List<Entry> entries) {
        this.entries = entries.toArray(Entry[]::new);
        if (this.entries.length == 0 || !entries.getLast().match().isAny()) {
            throw new IllegalArgumentException("the last rule must match everything");
        }
    }

    /**
     * Returns the matching rule; never null.
     *
     * @param bucket null for requests to the service itself
     * @param key decoded; "" for the bucket itself
     */
    public Rule match(String tenant, @Nullable String bucket, String key) {
        for (Entry entry : entries) {
            if (entry.match.test(tenant, bucket, key)) {
                return entry.rule;
            }
        }
        throw new IllegalStateException("the last rule matches everything");
    }

    /**
     * Returns the same rules, to replace earlier ones. A rule keeps the time of its promise if it
     * and all rules before it are unchanged: it then matches the same requests.
     *
     * @param nowNanos the time of every other promise
     */
    public Rules after(Rules earlier, long nowNanos) {
        List<Entry> promised = new ArrayList<>();
        boolean unchanged = true;
        for (int i = 0; i < entries.length; i++) {
            unchanged &= i < earlier.entries.length && entries[i].saysAs(earlier.entries[i]);
            long sinceNanos = unchanged ? earlier.entries[i].rule.promisedAtNanos() : nowNanos;
            promised.add(new Entry(entries[i].match, entries[i].rule.promisedAt(sinceNanos)));
        }
        return new Rules(promised);
    }

    /** Returns whether some tenant's objects of the bucket are in no store. */
    public boolean mayBeCacheOnly(String bucket) {
        return some(bucket, Rule::isCacheOnly);
    }

    /** Returns whether some writes to the bucket are acknowledged at the gateway's disk. */
    public boolean mayBeAtDisk(String bucket) {
        return some(bucket, Rule::acknowledgesAtDisk);
    }

    /** Returns whether a rule that some requests of the bucket match meets a condition. */
    private boolean some(String bucket, Predicate<Rule> condition) {
        for (Entry entry : entries) {
            Match match = entry.match;
            boolean matches = match.bucket() == null || Globs.matches(match.bucket(), bucket);
            if (matches && condition.test(entry.rule)) {
                return true;
            }
            if (matches && match.prefix() == null && match.tenant() == null) {
                // No later rule is asked.
                return false;
            }
        }
        return false;
    }

    /** Returns whether any rule has {@code durability: none}. */
    public boolean haveCacheOnly() {
        return first(Rule::isCacheOnly) >= 0;
    }

    /** Returns the number of the first such rule; -1 for none. */
    int first(Predicate<Rule> condition) {
        for (int i = 0; i < entries.length; i++) {
            if (condition.test(entries[i].rule)) {
                return i;
            }
        }
        return -1;
    }

    /** Returns the rules in order, the default last. */
    public List<Rule> all() {
        return Stream.of(entries).map(Entry::rule).toList();
    }
}
