package io.railhead.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import io.railhead.gateway.config.ListenAddress;
import java.net.InetAddress;
import org.junit.jupiter.api.Test;

/** The address that a member tells the others. */
final class ClusterOpeningTest {

    @Test
    void anAddressIsTakenAsItIsWritten() {
        assertThat(
                ClusterOpening.here("cluster.listen", ListenAddress.parse("127.0.0.3:7800")).host())
                .isEqualTo("127.0.0.3");
    }

    /** The names of many hosts are loopback addresses, on which no other host could connect. */
    @Test
    void anyStandsForOneThatOthersCanConnectTo() throws Exception {
        ListenAddress any = ListenAddress.parse("0.0.0.0:7800");
        String told;
        try {
            told = ClusterOpening.here("cluster.listen", any).host();
        } catch (IllegalArgumentException e) {
            assertThat(e).hasMessageContaining("write the address");
            return;
        }
        assertThat(InetAddress.getByName(told)).satisfies(own -> {
            assertThat(own.isLoopbackAddress()).isFalse();
            assertThat(own.isAnyLocalAddress()).isFalse();
        });
    }
}
