package io.railhead.gateway.status;

import static org.assertj.core.api.Assertions.assertThat;

import io.railhead.gateway.status.Series.Bucket;
import java.util.List;
import org.assertj.core.data.Offset;
import org.junit.jupiter.api.Test;

final class QuantilesTest {
    private static final Offset<Double> ROUNDING = Offset.offset(1e-9);

    private static List<Bucket> buckets(long first, long second, long all) {
        return List.of(new Bucket(0.001, first), new Bucket(0.01, second),
                new Bucket(Double.POSITIVE_INFINITY, all));
    }

    @Test
    void aQuantileLiesWithinItsBucket() {
        Quantiles took = new Quantiles(List.of(), buckets(50, 100, 100));
        assertThat(took.at(0.25)).isCloseTo(0.0005, ROUNDING);
        assertThat(took.at(0.5)).isCloseTo(0.001, ROUNDING);
        assertThat(took.at(0.75)).isCloseTo(0.0055, ROUNDING);
    }

    @Test
    void pastTheLastBoundItIsThatBound() {
        assertThat(new Quantiles(List.of(), buckets(0, 0, 7)).at(0.5)).isEqualTo(0.01);
    }

    @Test
    void onlyWhatCameSinceCounts() {
        Quantiles took = new Quantiles(buckets(1000, 1000, 1000), buckets(1000, 1010, 1010));
        assertThat(took.count()).isEqualTo(10);
        assertThat(took.at(0.99)).isBetween(0.009, 0.01);
    }

    @Test
    void nothingCountedIsNoFigure() {
        assertThat(new Quantiles(List.of(), List.of()).at(0.5)).isNull();
        assertThat(new Quantiles(buckets(1, 2, 3), buckets(1, 2, 3)).at(0.5)).isNull();
    }
}
