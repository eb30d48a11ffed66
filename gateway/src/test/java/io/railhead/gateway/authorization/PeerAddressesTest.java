package io.railhead.gateway.authorization;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.railhead.gateway.identity.AccessKey;
import io.railhead.gateway.identity.Principal;
import io.railhead.gateway.identity.Secret;
import java.net.InetAddress;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

class PeerAddressesTest {
    private static final byte[] MAPPED = gid("00000000000000000000ffff0a630002");
    private static final byte[] GLOBAL = gid("20010db8000000000000000000000007");
    private static final byte[] INFINIBAND = gid("fe800000000000000002c90300a1b2c3");

    @Test
    void theAddressThatTheRequestCameFromIsTheCallers() {
        assertThat(PeerAddresses.allow(principal(), MAPPED, address("10.99.0.2"))).isTrue();
        assertThat(PeerAddresses.allow(principal(), GLOBAL, address("2001:db8::7"))).isTrue();
    }

    @Test
    void anotherMachinesAddressIsNot() {
        assertThat(PeerAddresses.allow(principal(), MAPPED, address("10.99.0.3"))).isFalse();
        assertThat(PeerAddresses.allow(principal(), GLOBAL, address("10.99.0.2"))).isFalse();
        assertThat(PeerAddresses.allow(principal(), MAPPED, null)).isFalse();
    }

    @Test
    void aListedAddressIsTheCallersWhereverTheRequestCameFrom() {
        Principal listed = principal("10.99.0.2", "fe80::2:c903:a1:b2c3");
        assertThat(PeerAddresses.allow(listed, MAPPED, address("192.0.2.1"))).isTrue();
        assertThat(PeerAddresses.allow(listed, INFINIBAND, null)).isTrue();
        assertThat(PeerAddresses.allow(listed, GLOBAL, address("192.0.2.1"))).isFalse();
    }

    @Test
    void aGidHasSixteenBytes() {
        assertThatThrownBy(() -> PeerAddresses.allow(principal(), Arrays.copyOf(MAPPED, 15), null))
                .isInstanceOf(IllegalArgumentException.class);
    }

    private static Principal principal(String... gids) {
        Set<InetAddress> listed = Arrays.stream(gids)
                .map(PeerAddressesTest::address)
                .collect(Collectors.toSet());
        return new Principal("trainer", "default",
                List.of(new AccessKey("AK", new Secret("SK"), null)), null, listed, true, true,
                false);
    }

    private static InetAddress address(String literal) {
        return InetAddress.ofLiteral(literal);
    }

    private static byte[] gid(String hex) {
        return HexFormat.of().parseHex(hex);
    }
}
