package io.railhead.gateway.admission;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.railhead.backend.Rate;
import io.railhead.gateway.config.RateLimits;
import io.railhead.gateway.identity.AccessKey;
import io.railhead.gateway.identity.Principal;
import io.railhead.gateway.identity.Secret;
import io.railhead.gateway.metrics.Metrics;
import io.railhead.gateway.request.RequestSource;
import io.railhead.gateway.s3.S3Refusal;
import io.railhead.gateway.s3.sigv4.Authentication;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class RateLimitTest {
    private static final long SECOND = 1_000_000_000;

    private final Metrics metrics = new Metrics();
    private final AtomicLong clock = new AtomicLong();
    private final Admission admission = new Admission(new Limits(1000, 1 << 30, 1 << 20),
            () -> false, metrics.refused, metrics.rateLimited, clock::get);

    @BeforeEach
    void limit() {
        admission.limit(new RateLimits(new Rate(3, 0),
                Map.of("big", new Rate(0, 1000), "free", Rate.NONE)));
    }

    private TenantInFlight tenant(String tenant) {
        return admission.share(new Principal(tenant + "-reader", tenant,
                List.of(new AccessKey(tenant, new Secret("secret"), null)), null, Set.of(), true,
                true, false));
    }

    private S3Refusal refusal(TenantInFlight tenant) {
        return catchThrowableOfType(S3Refusal.class, () -> admission.enter(tenant, 0).close());
    }

    private int entered(TenantInFlight tenant, int most) {
        int entered = 0;
        while (entered < most && refusal(tenant) == null) {
            entered++;
        }
        return entered;
    }

    @Test
    void aTenantWithoutALimitOfItsOwnHasTheOneOfAllOthers() {
        assertThat(entered(tenant("a"), 99)).isEqualTo(3);
        assertThat(entered(tenant("b"), 99)).isEqualTo(3);
        assertThat(entered(tenant("free"), 99)).isEqualTo(99);
        assertThat(entered(tenant("big"), 99)).isEqualTo(99);
        S3Refusal refusal = refusal(tenant("a"));
        assertThat(refusal.error().code()).isEqualTo("SlowDown");
        assertThat(refusal.status()).isEqualTo(503);
        assertThat(refusal.headers()).containsEntry("retry-after", "1");
        assertThat(metrics.rateLimited.labels("a", "requests").get()).isEqualTo(2);
        assertThat(admission.requests()).as("in flight").isZero();
        clock.addAndGet(SECOND);
        assertThat(entered(tenant("a"), 99)).isEqualTo(3);
    }

    @Test
    void aBigBodyIsLetThroughAndItsDebtIsPaidBeforeTheNext() {
        TenantInFlight big = tenant("big");
        try (Permit permit = admission.enter(big, 0)) {
            permit.charge(5000);
            permit.charge(4000);
            permit.charge(6000);
        }
        S3Refusal refusal = refusal(big);
        assertThat(refusal.headers()).containsEntry("retry-after", "6");
        assertThat(metrics.rateLimited.labels("big", "bytes").get()).isEqualTo(1);
        clock.addAndGet(5 * SECOND + SECOND / 100);
        assertThat(refusal(big)).isNull();
    }

    @Test
    void aHitTakesItsRequestAndItsBytesAtOnceOrNothing() {
        TenantInFlight big = tenant("big");
        Permit permit = admission.tryEnter(big, 600);
        assertThat(permit).isNotNull();
        assertThat(permit.tryTake(600)).isTrue();
        assertThat(permit.tryTake(600)).isTrue();
        assertThat(permit.tryTake(600)).isFalse();
        permit.close();
        TenantInFlight a = tenant("a");
        for (int i = 0; i < 3; i++) {
            admission.pass(a);
            admission.enterPassed(a, 0).close();
        }
        assertThat(catchThrowableOfType(S3Refusal.class, () -> admission.pass(a))).isNotNull();
    }

    @Test
    void aDebtOutlivesItsTenantsRequests() {
        try (Permit permit = admission.enter(tenant("big"), 0)) {
            permit.charge(1_000_000);
        }
        System.gc();
        assertThat(refusal(tenant("big"))).isNotNull();
    }

    @Test
    void areloadPutsOtherLimitsInForceForSharesThatAreHeld() {
        TenantInFlight a = tenant("a");
        assertThat(entered(a, 99)).isEqualTo(3);
        RateLimits others = new RateLimits(new Rate(5, 0), Map.of());
        admission.limit(others);
        assertThat(entered(a, 99)).isEqualTo(5);
        admission.limit(new RateLimits(new Rate(5, 0), Map.of()));
        assertThat(entered(a, 99)).as("an unchanged limit").isZero();
        admission.limit(RateLimits.NONE);
        assertThat(entered(a, 99)).isEqualTo(99);
    }

    @Test
    void onlySoManyTenantsAreNamedInMetrics() {
        for (int i = 0; i < 1000; i++) {
            assertThat(entered(tenant("t" + i), 3)).isEqualTo(3);
            assertThat(refusal(tenant("t" + i))).isNotNull();
        }
        assertThat(metrics.rateLimited.labels("t0", "requests").get()).isEqualTo(1);
        assertThat(metrics.rateLimited.labels("__other__", "requests").get()).isEqualTo(800);
        assertThat(metrics.rateLimited.collect().getFirst().samples.stream()
                .filter(sample -> sample.name.endsWith("_total"))).hasSize(201);
    }

    @Test
    void strangersHaveALimitEachAndAnyNumberOfThemTakesBoundedMemory() {
        Authentication nobody = new Authentication.Anonymous();
        for (int i = 0; i < 200_000; i++) {
            TenantInFlight stranger = admission.share(nobody, RequestSource.anonymous(
                    "2001:db8::" + Integer.toHexString(i >> 16) + ":"
                            + Integer.toHexString(i & 0xffff),
                    false));
            if (i < 1000) {
                assertThat(entered(stranger, 9)).isEqualTo(3);
            } else {
                clock.addAndGet(SECOND / 1000);
                assertThat(entered(stranger, 1)).isEqualTo(1);
            }
        }
        assertThat(admission.ratedSharers()).isLessThanOrEqualTo(1 << 16);
    }
}
