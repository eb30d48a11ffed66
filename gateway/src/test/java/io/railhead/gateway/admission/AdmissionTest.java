package io.railhead.gateway.admission;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.railhead.gateway.identity.AccessKey;
import io.railhead.gateway.identity.Principal;
import io.railhead.gateway.identity.Secret;
import io.railhead.gateway.metrics.Metrics;
import io.railhead.gateway.request.RequestSource;
import io.railhead.gateway.s3.S3Refusal;
import io.railhead.gateway.s3.sigv4.Authentication;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class AdmissionTest {
    private static final int REQUESTS = 12;
    private static final long BYTES = 1200;
    private static final long WINDOW = 200;

    private final Metrics metrics = new Metrics();
    private final AtomicLong clock = new AtomicLong(1);
    private final AtomicBoolean shedding = new AtomicBoolean();
    private final Admission admission = new Admission(new Limits(REQUESTS, BYTES, WINDOW),
            shedding::get, metrics.refused, metrics.rateLimited, clock::get);

    private static Principal principal(String name, String tenant) {
        return new Principal(name, tenant,
                List.of(new AccessKey(name, new Secret("secret"), null)), null, Set.of(), true,
                true, false);
    }

    private TenantInFlight tenant(String name) {
        return admission.share(principal(name + "-reader", name));
    }

    private List<Permit> enterUntilRefused(TenantInFlight tenantInFlight, long bytes) {
        List<Permit> tickets = new ArrayList<>();
        try {
            while (true) {
                tickets.add(admission.enter(tenantInFlight, bytes));
            }
        } catch (S3Refusal e) {
            assertThat(e.status()).isEqualTo(503);
            assertThat(e.error().code()).isEqualTo("SlowDown");
            return tickets;
        }
    }

    private double refused(String reason, String tenant) {
        return metrics.refused.labels(reason, tenant).get();
    }

    @Test
    void whoIsAloneMayHaveAllOfIt() {
        assertThat(enterUntilRefused(tenant("a"), 0)).hasSize(REQUESTS);
        assertThat(refused("requests", "a")).isEqualTo(1);
        assertThat(admission.requests()).isEqualTo(REQUESTS);
    }

    @Test
    void whoComesWhenAllIsTakenGetsItsFairShare() {
        List<Permit> flood = enterUntilRefused(tenant("flood"), 0);
        assertThat(enterUntilRefused(tenant("b"), 0)).hasSize(REQUESTS / 2);
        assertThat(enterUntilRefused(tenant("c"), 0)).hasSize(REQUESTS / 3);
        assertThat(enterUntilRefused(tenant("flood"), 0)).isEmpty();
        flood.forEach(Permit::close);
        assertThat(enterUntilRefused(tenant("flood"), 0)).isNotEmpty();
    }

    @Test
    void twiceTheLimitIsPassedByNobody() {
        for (int i = 0; i < 100; i++) {
            enterUntilRefused(tenant("tenant-" + i), 0);
        }
        assertThat(admission.requests()).isEqualTo(2 * REQUESTS);
    }

    @Test
    void bytesAreSharedAsRequestsAre() {
        assertThat(enterUntilRefused(tenant("flood"), 400)).hasSize((int) (BYTES / WINDOW));
        assertThat(refused("bytes", "flood")).isEqualTo(1);
        assertThat(enterUntilRefused(tenant("b"), 100)).hasSize((int) (BYTES / 2 / 100));
    }

    @Test
    void whatARequestTurnsOutToMoveCountsForThoseAfterIt() {
        List<Permit> flood = new ArrayList<>();
        for (int i = 0; i < 7; i++) {
            flood.add(admission.enter(tenant("flood"), 0));
        }
        flood.forEach(permit -> permit.holds(WINDOW));
        assertThat(enterUntilRefused(tenant("flood"), 0)).isEmpty();
        flood.getFirst().close();
        flood.getFirst().close();
        assertThat(admission.bytes()).isEqualTo(6 * WINDOW);
        assertThat(enterUntilRefused(tenant("flood"), 0)).isNotEmpty();
    }

    /** Its place as a request is another's then, and its bytes are not. */
    @Test
    void whatIsAnsweredCountsByItsBytesUntilTheyAreTaken() {
        List<Permit> flood = enterUntilRefused(tenant("flood"), WINDOW / 2);
        flood.forEach(Permit::answered);
        flood.getFirst().answered();
        assertThat(admission.requests()).isZero();
        assertThat(admission.active()).isZero();
        assertThat(admission.bytes()).isEqualTo(flood.size() * WINDOW / 2);
        flood.forEach(Permit::close);
        flood.getFirst().close();
        flood.getFirst().answered();
        assertThat(admission.bytes()).isZero();
        assertThat(admission.requests()).isZero();
    }

    @Test
    void principalsOfNoTenantAndAddressesOfStrangersShareToo() {
        enterUntilRefused(admission.share(principal("a", "default")), 0);
        assertThat(enterUntilRefused(admission.share(principal("b", "default")), 0)).isNotEmpty();
        Authentication nobody = new Authentication.Anonymous();
        TenantInFlight one = admission.share(nobody, RequestSource.anonymous("10.0.0.1", false));
        assertThat(admission.share(nobody, RequestSource.anonymous("10.0.0.1", false)))
                .isSameAs(one);
        assertThat(admission.share(nobody, RequestSource.anonymous("10.0.0.2", false)))
                .isNotSameAs(one);
        assertThat(admission.share(principal("a", "x")))
                .isSameAs(admission.share(principal("b", "x")))
                .isNotSameAs(admission.share(principal("x", "default")));
    }

    @Test
    void whileItShedsNothingNewIsBegun() {
        Permit before = admission.enter(tenant("a"), 0);
        shedding.set(true);
        assertThatThrownBy(() -> admission.enter(tenant("a"), 0)).isInstanceOf(S3Refusal.class);
        assertThatThrownBy(() -> admission.pass(tenant("b"))).isInstanceOf(S3Refusal.class);
        assertThat(refused("heap", "a")).isEqualTo(1);
        before.close();
        shedding.set(false);
        admission.pass(tenant("b"));
        assertThat(admission.requests()).isZero();
    }

    /** Against the rule itself, written down once more. */
    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3})
    void whateverComesAndGoesNobodyBelowItsShareIsRefused(long seed) {
        Random random = new Random(seed);
        Map<Integer, Deque<Permit>> held = new HashMap<>();
        for (int step = 0; step < 20_000; step++) {
            int tenant = random.nextInt(5);
            Deque<Permit> own = held.computeIfAbsent(tenant, _ -> new ArrayDeque<>());
            if (random.nextInt(3) == 0 && !own.isEmpty()) {
                own.remove().close();
                continue;
            }
            int all = held.values().stream().mapToInt(Deque::size).sum() + 1;
            long active = held.entrySet()
                    .stream()
                    .filter(each -> each.getKey() != tenant && !each.getValue().isEmpty())
                    .count() + 1;
            boolean allowed = all <= REQUESTS || (all <= 2 * REQUESTS
                    && own.size() + 1 <= Math.max(1, REQUESTS / active));
            try {
                own.add(admission.enter(tenant("t" + tenant), 0));
                assertThat(allowed).as("seed %d, step %d", seed, step).isTrue();
            } catch (S3Refusal e) {
                assertThat(allowed).as("seed %d, step %d", seed, step).isFalse();
            }
        }
        held.values().forEach(own -> own.forEach(Permit::close));
        assertThat(admission.requests()).isZero();
        assertThat(admission.bytes()).isZero();
        assertThat(admission.active()).isZero();
    }

    @Test
    void aTenantScansOnceAtATime() {
        TenantInFlight one = admission.share(principal("a", "x"));
        assertThat(one.tryBeginScan()).isTrue();
        assertThat(admission.share(principal("b", "x")).tryBeginScan()).isFalse();
        assertThat(tenant("y").tryBeginScan()).isTrue();
        one.endScan();
        assertThat(one.tryBeginScan()).isTrue();
    }
}
