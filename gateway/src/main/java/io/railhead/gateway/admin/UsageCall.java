package io.railhead.gateway.admin;

import io.railhead.gateway.accounting.UsageCounts;
import io.railhead.gateway.accounting.UsageTable;
import io.railhead.gateway.config.Prices;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.time.Instant;
import java.time.InstantSource;
import java.time.temporal.ChronoUnit;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Shows what each tenant used in each bucket since the start, and what it saved. */
final class UsageCall {
    private static final double NANOS = 1e9;

    private final UsageTable usage;
    private final Instant since;

    UsageCall(UsageTable usage, InstantSource clock) {
        this.usage = usage;
        this.since = clock.instant().truncatedTo(ChronoUnit.SECONDS);
    }

    JsonObject call(AdminCall.Asked asked) {
        boolean byTenant = asked.body().flag("by_tenant");
        asked.body().close();
        Prices prices = usage.prices();
        List<UsageTable.Row> rows = byTenant ? usage.rowsByTenant() : usage.rows();
        JsonArray shown = new JsonArray();
        UsageCounts total = UsageCounts.NONE;
        for (UsageTable.Row row : rows) {
            JsonObject names = JsonObject.of("tenant", row.tenant());
            if (!byTenant) {
                names.put("bucket", row.bucket());
            }
            shown.add(names.mergeIn(counts(row.counts(), prices)));
            total = total.plus(row.counts());
        }
        JsonObject answer = JsonObject.of("since", since.toString(), "usage", shown, "total",
                counts(total, prices));
        if (prices != null) {
            answer.put("currency", prices.currency());
        }
        return answer;
    }

    private static JsonObject counts(UsageCounts counts, @Nullable Prices prices) {
        long requests = counts.reads() + counts.writes();
        JsonObject shown = JsonObject.of("reads", counts.reads(), "writes", counts.writes(), "hits",
                counts.hits(), "misses", counts.misses(), "bytes", counts.servedBytes())
                .put("store_reads", counts.storeReads())
                .put("store_writes", counts.storeWrites())
                .put("store_bytes", counts.storeBytes())
                .put("avoided_requests", counts.avoidedRequests())
                .put("avoided_bytes", counts.avoidedBytes())
                .put("mean_seconds", requests == 0 ? 0 : counts.nanos() / NANOS / requests);
        if (prices != null) {
            shown.put("store_cost", counts.storeCost(prices)).put("saved", counts.saved(prices));
        }
        return shown;
    }
}
