package io.railhead.gateway.accounting;

import io.railhead.backend.Backend;
import io.railhead.gateway.config.Prices;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * The usage of each tenant in each bucket. Clients name buckets, so the rows are bounded, and what
 * has no row of its own is folded: further buckets of a tenant into the tenant's row
 * {@link #OTHER}, further tenants into the row {@link #OTHER} of all. So totals are conserved. A
 * request that fails makes no row, so a client that guesses names displaces nobody.
 *
 * <p> Any thread. Finding a known row takes no lock and allocates nothing. A row stays for ever.
 */
public final class UsageTable {
    /** The name for all others, which no bucket can have. */
    public static final String OTHER = "__other__";
    /** The tenant of requests without a known sender. */
    public static final String ANONYMOUS = "__anonymous__";

    private static final int DEFAULT_ROWS = 2000;
    /** All buckets together have at most this part of the rows, so that tenants have the others. */
    private static final double BUCKETS_PART = 0.4;
    /** One tenant's buckets have at most this part of the rows. */
    private static final double TENANTS_PART = 0.05;

    private final Map<String, Tenant> byName = new ConcurrentHashMap<>();
    private final Usage rest = new Usage();
    private volatile int limit = DEFAULT_ROWS;
    private volatile @Nullable Prices prices;
    private int bucketRows; // guarded by this

    /** One tenant's rows; each tenant has one for its further buckets. */
    private static final class Tenant {
        private final Map<String, Usage> buckets = new ConcurrentHashMap<>();
        private final Usage other = new Usage();
        private volatile boolean full;
    }

    /** One row. */
    public record Row(String tenant, String bucket, UsageCounts counts) {}

    /** Sets the most rows, before anything is counted. */
    public void limit(int mostRows) {
        limit = mostRows;
    }

    /**
     * Sets the store's prices, by which all usage since the start is shown.
     *
     * @param list null for no price list
     */
    public void price(@Nullable Prices list) {
        prices = list;
    }

    /** Returns null without a price list. */
    public @Nullable Prices prices() {
        return prices;
    }

    /**
     * Returns the row of a request that went well.
     *
     * @param tenant "" for an unknown sender
     * @param bucket null for none
     */
    public Usage of(String tenant, @Nullable String bucket) {
        Tenant known = byName.get(tenant);
        if (known == null) {
            known = meetTenant(tenant);
        }
        if (known == null) {
            return rest;
        }
        Usage usage = bucket == null ? null : known.buckets.get(bucket);
        if (usage != null) {
            return usage;
        }
        return bucket == null || known.full || bucket.equals(OTHER)
                ? known.other
                : meetBucket(known, bucket);
    }

    /** Returns the row of a request that failed, which gets none of its own. */
    private Usage ofFailed(String tenant, @Nullable String bucket) {
        Tenant known = byName.get(tenant);
        if (known == null) {
            return rest;
        }
        return bucket == null ? known.other : known.buckets.getOrDefault(bucket, known.other);
    }

    private synchronized @Nullable Tenant meetTenant(String tenant) {
        // One row is for the rest.
        if (byName.size() >= limit - bucketRowsAllowed() - 1 || tenant.equals(OTHER)) {
            return byName.get(tenant);
        }
        return byName.computeIfAbsent(tenant, _ -> new Tenant());
    }

    private synchronized Usage meetBucket(Tenant tenant, String bucket) {
        if (bucketRows >= bucketRowsAllowed()
                || tenant.buckets.size() >= Math.max(1, (int) (limit * TENANTS_PART))) {
            tenant.full = true;
            return tenant.buckets.getOrDefault(bucket, tenant.other);
        }
        return tenant.buckets.computeIfAbsent(bucket, _ -> {
            bucketRows++;
            return new Usage();
        });
    }

    private int bucketRowsAllowed() {
        return (int) (limit * BUCKETS_PART);
    }

    /** Counts the end of a client's request. */
    public void ended(String tenant, @Nullable String bucket, Kind kind, long nanos) {
        of(tenant, bucket).ended(kind, nanos);
    }

    /** Counts a read that the cache served, in whole or in part; its end is counted apart. */
    public void read(String tenant, String bucket, boolean isHit, long bytes) {
        of(tenant, bucket).read(isHit, bytes);
    }

    /** Counts bytes that a client got past the cache. */
    public void served(String tenant, @Nullable String bucket, long bytes) {
        of(tenant, bucket).served(bytes);
    }

    /**
     * Returns a store whose requests and bytes are counted in one row.
     *
     * @param namesObject whether the requests name an object
     */
    public Backend charging(Backend store, String tenant, @Nullable String bucket,
            boolean namesObject) {
        return new ChargedBackend(store, namesObject, isGood -> isGood
                ? of(tenant, bucket)
                : ofFailed(tenant, bucket));
    }

    /** Returns the rows that count anything: most bytes first, and what is folded last. */
    public List<Row> rows() {
        List<Row> found = new ArrayList<>();
        byName.forEach((name, tenant) -> {
            String shown = name.isEmpty() ? ANONYMOUS : name;
            tenant.buckets.forEach((bucket, usage) -> add(found, shown, bucket, usage));
            add(found, shown, OTHER, tenant.other);
        });
        found.sort(Comparator.comparing((Row row) -> row.bucket().equals(OTHER))
                .thenComparingLong(row -> -row.counts().servedBytes())
                .thenComparing(Row::tenant)
                .thenComparing(Row::bucket));
        add(found, OTHER, OTHER, rest);
        return found;
    }

    /** Returns one row for each tenant, with the bucket {@link #OTHER}. */
    public List<Row> rowsByTenant() {
        Map<String, UsageCounts> tenants = new LinkedHashMap<>();
        rows().forEach(row -> tenants.merge(row.tenant(), row.counts(), UsageCounts::plus));
        List<Row> found = new ArrayList<>();
        tenants.forEach((tenant, counts) -> found.add(new Row(tenant, OTHER, counts)));
        found.sort(Comparator.comparing((Row row) -> row.tenant().equals(OTHER))
                .thenComparingLong(row -> -row.counts().servedBytes())
                .thenComparing(Row::tenant));
        return found;
    }

    private static void add(List<Row> rows, String tenant, String bucket, Usage usage) {
        UsageCounts counts = usage.counts();
        if (!counts.isNothing()) {
            rows.add(new Row(tenant, bucket, counts));
        }
    }
}
