package io.railhead.gateway.audit;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class FloodLimitTest {
    private long nowNanos;
    private final FloodLimit limit = new FloodLimit(() -> nowNanos);
    private final List<String> summaries = new ArrayList<>();

    private static AuditEvent refused(AuditKind kind, String address) {
        return AuditEvent.refused(kind, "X", "").by("", "", address);
    }

    private int admitted(AuditKind kind, String address, int events) {
        int admitted = 0;
        for (int i = 0; i < events; i++) {
            admitted += limit.admits(refused(kind, address)) ? 1 : 0;
        }
        return admitted;
    }

    private void sweep(boolean all) {
        limit.sweep(all, (kind, source, events) -> summaries
                .add(kind.label() + " " + source + " " + events));
    }

    @Test
    void oneSenderIsLimitedAndAnotherIsNot() {
        assertThat(admitted(AuditKind.LOGIN_REFUSED, "10.0.0.1", 50)).isEqualTo(10);
        assertThat(admitted(AuditKind.LOGIN_REFUSED, "10.0.0.2", 5)).isEqualTo(5);
        assertThat(admitted(AuditKind.ACCESS_DENIED, "10.0.0.1", 5)).isEqualTo(5);
    }

    /** Each host may have 2^64 addresses of its own. */
    @Test
    void theAddressesOfOneIpv6PrefixAreOneSender() {
        for (int i = 0; i < 50; i++) {
            admitted(AuditKind.LOGIN_REFUSED, "2001:db8:0:1:" + i + "::1", 1);
        }
        // No interface of this machine has this name.
        assertThat(admitted(AuditKind.LOGIN_REFUSED, "2001:db8:0:1:ffff::%none0", 1)).isZero();
        assertThat(admitted(AuditKind.LOGIN_REFUSED, "2001:db8:0:2::1", 11)).isEqualTo(10);
        sweep(true);
        assertThat(summaries).contains("login_refused 2001:db8:0:1:0:0:0:0/64 41",
                "login_refused 2001:db8:0:2:0:0:0:0/64 1");
    }

    @Test
    void manySendersTogetherAreLimitedToo() {
        int admitted = 0;
        for (int i = 0; i < 10_000; i++) {
            admitted += admitted(AuditKind.LOGIN_REFUSED, "10.0." + i / 256 + "." + i % 256, 1);
        }
        assertThat(admitted).isEqualTo(120);
        assertThat(admitted(AuditKind.ACCESS_DENIED, "10.1.0.1", 1)).isEqualTo(1);
    }

    @Test
    void theMinutesEndTellsTheSuppressedOnceAndAdmitsAgain() {
        admitted(AuditKind.LOGIN_REFUSED, "10.0.0.1", 13);
        admitted(AuditKind.LOGIN_REFUSED, "10.0.0.2", 10);
        nowNanos += FloodLimit.WINDOW_NANOS - 1;
        sweep(false);
        assertThat(summaries).isEmpty();
        nowNanos++;
        sweep(false);
        sweep(false);
        assertThat(summaries).containsExactly("login_refused 10.0.0.1 3");
        assertThat(admitted(AuditKind.LOGIN_REFUSED, "10.0.0.1", 13)).isEqualTo(10);
        sweep(true);
        assertThat(summaries).hasSize(2);
    }

    @Test
    void theGatewaysOwnEventsAreNotLimited() {
        for (AuditKind kind : List.of(AuditKind.ADMIN_CALL, AuditKind.RELOAD,
                AuditKind.KEY_CHANGED)) {
            assertThat(admitted(kind, "10.0.0.1", 500)).isEqualTo(500);
        }
    }
}
