package io.railhead.gateway.admission;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.railhead.gateway.admission.HeapPressure.Stage;
import io.railhead.gateway.identity.AccessKey;
import io.railhead.gateway.identity.Principal;
import io.railhead.gateway.identity.Secret;
import io.railhead.gateway.metrics.Metrics;
import io.railhead.gateway.s3.S3Refusal;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

class HeapPressureTest {
    private final List<String> done = new ArrayList<>();
    private double held;
    private long nanos;
    private final HeapPressure pressure = new HeapPressure(() -> held, () -> nanos,
            new HeapPressure.Actions() {
                @Override
                public void stopCaching() {
                    done.add("stop");
                }

                @Override
                public void resumeCaching() {
                    done.add("resume");
                }

                @Override
                public void collect() {
                    done.add("collect");
                }
            });

    private Stage at(double share) {
        held = share;
        pressure.look();
        return pressure.stage();
    }

    @Test
    void cachingEndsFirstThenRequestsAndBothComeBackLaterThanTheyWent() {
        assertThat(at(0.79)).isEqualTo(Stage.NONE);
        assertThat(at(0.80)).isEqualTo(Stage.NO_CACHING);
        assertThat(at(0.91)).isEqualTo(Stage.NO_CACHING);
        assertThat(at(0.92)).isEqualTo(Stage.NO_REQUESTS);
        assertThat(pressure.refusesRequests()).isTrue();
        assertThat(at(0.86)).isEqualTo(Stage.NO_REQUESTS);
        assertThat(at(0.84)).isEqualTo(Stage.NO_CACHING);
        assertThat(pressure.refusesRequests()).isFalse();
        assertThat(at(0.71)).isEqualTo(Stage.NO_CACHING);
        assertThat(at(0.69)).isEqualTo(Stage.NONE);
        assertThat(at(0.79)).isEqualTo(Stage.NONE);
        assertThat(done).endsWith("resume").startsWith("stop");
    }

    @Test
    void admissionRefusesAtTheSecondStageAlone() {
        Metrics metrics = new Metrics();
        Admission admission = new Admission(new Limits(9, 9, 9), pressure::refusesRequests,
                metrics.refused, metrics.rateLimited, System::nanoTime);
        TenantInFlight tenantInFlight = admission.share(
                new Principal("a", "a",
                        List.of(new AccessKey("a", new Secret("secret"), null)), null, Set.of(),
                        true, true, false));
        at(0.91);
        admission.pass(tenantInFlight);
        at(0.92);
        assertThatThrownBy(() -> admission.pass(tenantInFlight)).isInstanceOf(S3Refusal.class);
        at(0.84);
        admission.pass(tenantInFlight);
    }

    @Test
    void oneLeapPassesBothStages() {
        assertThat(at(0.99)).isEqualTo(Stage.NO_REQUESTS);
        assertThat(at(0.1)).isEqualTo(Stage.NONE);
        assertThat(done).containsExactly("stop", "resume");
    }

    @Test
    void moreIsForgottenOnlyWhereAnotherCollectionFoundTheHeapFull() {
        at(0.85);
        at(0.85);
        assertThat(done).containsExactly("stop");
        at(0.86);
        assertThat(done).containsExactly("stop", "stop");
    }

    /** Nobody else may cause one any more. */
    @Test
    void whereNoCollectionComesOneIsAskedFor() {
        at(0.95);
        nanos += Duration.ofMillis(1900).toNanos();
        at(0.95);
        assertThat(done).containsExactly("stop");
        nanos += Duration.ofMillis(100).toNanos();
        at(0.95);
        assertThat(done).containsExactly("stop", "collect");
        at(0.95);
        assertThat(done).hasSize(2);
        at(0.5);
        nanos += Duration.ofHours(1).toNanos();
        at(0.5);
        assertThat(done).containsExactly("stop", "collect", "resume");
    }
}
