package io.railhead.gateway.trust;

import static org.assertj.core.api.Assertions.assertThat;

import io.railhead.gateway.trust.Operation.Kind;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Which failures of the random histories are forgiven, and which must end. */
class FaultPlanTest {

    private static boolean excuses(Toxic toxic, Kind kind) {
        return FaultPlan.always(toxic).excuses(kind);
    }

    @Test
    void aFaultExcusesWhatItConcerns() {
        assertThat(excuses(new Toxic.Lost(), Kind.PUT)).isTrue();
        assertThat(excuses(new Toxic.Truncation(1), Kind.LIST)).isTrue();
        assertThat(excuses(new Toxic.Truncation(1), Kind.PUT)).isFalse();
        assertThat(excuses(new Toxic.Truncation(1), Kind.HEAD)).isFalse();
        assertThat(excuses(new Toxic.ChangedEtag(), Kind.GET_BY_TOKEN)).isTrue();
        assertThat(excuses(new Toxic.ChangedEtag(), Kind.LIST)).isFalse();
        assertThat(FaultPlan.NONE.excuses(Kind.GET)).isFalse();
    }

    @Test
    void whatIsOnlySlowExcusesNothingUnlessItOutlivesPatience() {
        assertThat(excuses(new Toxic.Latency(Duration.ofMillis(50)), Kind.GET)).isFalse();
        assertThat(excuses(new Toxic.LateRequest(Duration.ofMillis(99)), Kind.PUT)).isFalse();
        assertThat(excuses(new Toxic.Stall(9, Duration.ofSeconds(3)), Kind.GET)).isTrue();
        assertThat(excuses(new Toxic.Slicer(1, Duration.ZERO), Kind.GET)).isTrue();
    }

    @Test
    void everyOtherIsTheFirstOfEach() {
        FaultPlan plan = FaultPlan.everyOther(new Toxic.SlowDown());
        for (String path : List.of("/a", "/b", "/a", "/a", "/b")) {
            boolean first = plan.next(get(path)) != null;
            assertThat(first).isEqualTo(plan.next(get(path)) == null);
        }
        assertThat(plan.next(get("/c"))).isNotNull();
        assertThat(plan.next(get("/c"))).isNull();
    }

    private static Message get(String path) {
        return new Message("GET " + path + " HTTP/1.1", List.of(), new byte[0]);
    }
}
