package io.railhead.protocol.message;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.HexFormat;
import java.util.Random;
import org.junit.jupiter.api.Test;

class SessionKeyTest {
    private static final byte[] SIGNING_KEY = HexFormat.of().parseHex("0b".repeat(32));
    private static final String SIGNATURE = "5d".repeat(32);
    private static final String ID = "a1".repeat(16);
    private static final String DERIVED = "569f3833f96bb8faf5f5466fc385f97d56e5b80e543278653a3254cb5aca9005";
    private final Bytes32 mine = Bytes32.random(new Random(1));
    private final Bytes32 theirs = Bytes32.random(new Random(2));

    @Test
    void bothSidesDeriveTheSameKey() {
        // Computed apart: HMAC-SHA256(key, "railhead session key" | signature | id).
        assertThat(SessionKey.derive(SIGNING_KEY, SIGNATURE, ID)).asHexString()
                .isEqualToIgnoringCase(DERIVED);
    }

    @Test
    void theKeyDependsOnEachOfItsSources() {
        byte[] key = SessionKey.derive(SIGNING_KEY, SIGNATURE, ID);
        assertThat(SessionKey.derive(new byte[32], SIGNATURE, ID)).isNotEqualTo(key);
        assertThat(SessionKey.derive(SIGNING_KEY, "5e".repeat(32), ID)).isNotEqualTo(key);
        assertThat(SessionKey.derive(SIGNING_KEY, SIGNATURE, "a2".repeat(16))).isNotEqualTo(key);
    }

    @Test
    void aProofDependsOnEachOfItsSources() {
        byte[] key = SessionKey.derive(SIGNING_KEY, SIGNATURE, ID);
        Bytes32 proof = SessionKey.clientProof(key, ID, mine, theirs);
        assertThat(SessionKey.clientProof(key, ID, mine, theirs)).isEqualTo(proof);
        assertThat(SessionKey.clientProof(new byte[32], ID, mine, theirs)).isNotEqualTo(proof);
        assertThat(SessionKey.clientProof(key, "a2".repeat(16), mine, theirs))
                .isNotEqualTo(proof);
        assertThat(SessionKey.clientProof(key, ID, theirs, theirs)).isNotEqualTo(proof);
        assertThat(SessionKey.clientProof(key, ID, mine, mine)).isNotEqualTo(proof);
    }

    @Test
    void theClientsProofCannotBeSentBackAsTheServers() {
        byte[] key = SessionKey.derive(SIGNING_KEY, SIGNATURE, ID);
        assertThat(SessionKey.serverProof(key, ID, mine, theirs))
                .isNotEqualTo(SessionKey.clientProof(key, ID, mine, theirs));
    }
}
