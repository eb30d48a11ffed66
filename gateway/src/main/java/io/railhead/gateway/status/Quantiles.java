package io.railhead.gateway.status;

import io.railhead.gateway.status.Series.Bucket;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Quantiles of a histogram's counts between two samples, computed as Prometheus does. */
record Quantiles(List<Bucket> before, List<Bucket> after) {

    long count() {
        return after.isEmpty() ? 0 : countAt(after.size() - 1);
    }

    /** Returns seconds; null without counts. Above the last bound, returns that bound. */
    @Nullable
    Double at(double quantile) {
        long all = count();
        if (all == 0) {
            return null;
        }
        double rank = quantile * all;
        int i = 0;
        while (countAt(i) < rank) {
            i++;
        }
        double lower = i == 0 ? 0 : after.get(i - 1).bound();
        double upper = after.get(i).bound();
        if (Double.isInfinite(upper)) {
            return lower;
        }
        long below = i == 0 ? 0 : countAt(i - 1);
        return lower + (upper - lower) * (rank - below) / Math.max(1, countAt(i) - below);
    }

    private long countAt(int i) {
        return after.get(i).count() - (i < before.size() ? before.get(i).count() : 0);
    }
}
