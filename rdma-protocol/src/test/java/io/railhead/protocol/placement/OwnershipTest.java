package io.railhead.protocol.placement;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Arrays;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A simulation of the rule by which members share objects out. */
class OwnershipTest {
    private static final int OBJECTS = 20_000;
    private static final int RUNS = 40;
    private static final long MEMBER = 0x91E80F388516AE51L;
    private static final long RUN = 0xD5830F4DC3851D42L;
    private static final long SCORE = 0x0B056AB02AEF2778L;
    private static final long FOREIGN_RUN = 0x9963D79A5E757962L;

    private static long[] members(int count) {
        return IntStream.range(0, count)
                .mapToLong(i -> Ownership.member("railhead-" + i))
                .toArray();
    }

    private static int owner(long[] members, long run) {
        int owner = 0;
        for (int i = 1; i < members.length; i++) {
            if (Long.compareUnsigned(Ownership.score(members[i], run),
                    Ownership.score(members[owner], run)) > 0) {
                owner = i;
            }
        }
        return owner;
    }

    private static int[] owners(int members) {
        long[] hashes = members(members);
        int[] owners = new int[OBJECTS * RUNS];
        for (int i = 0; i < owners.length; i++) {
            owners[i] = owner(hashes, Ownership.run("models",
                    "checkpoint/" + i / RUNS + ".safetensors", i % RUNS));
        }
        return owners;
    }

    @ParameterizedTest
    @ValueSource(ints = {8, 64})
    void sharesAreEvenAndAJoinMovesOneShare(int members) {
        int[] before = owners(members);
        int[] shares = new int[members];
        for (int owner : before) {
            shares[owner]++;
        }
        double mean = (double) before.length / members;
        assertThat(Arrays.stream(shares).max().orElseThrow() / mean).isLessThanOrEqualTo(1.05);
        int[] after = owners(members + 1);
        int moved = 0;
        for (int i = 0; i < before.length; i++) {
            if (after[i] != before[i]) {
                assertThat(after[i]).as("the newcomer").isEqualTo(members);
                moved++;
            }
        }
        assertThat(moved / ((double) before.length / (members + 1))).isBetween(0.9, 1.1);
    }

    /** Gateways and clients of two releases that both say version 2 must agree. */
    @Test
    void theVersionStaysAsItIs() {
        assertThat(Ownership.member("railhead-0")).isEqualTo(MEMBER);
        assertThat(Ownership.run("bucket", "a/key", 7)).isEqualTo(RUN);
        assertThat(Ownership.score(MEMBER, RUN)).isEqualTo(SCORE);
        assertThat(Ownership.run("bucket", "Zürich/日本/\uD83D\uDE82", 0)).isEqualTo(FOREIGN_RUN);
    }

    @Test
    void namesDoNotRunIntoEachOther() {
        assertThat(Ownership.run("bc", "d", 0)).isNotEqualTo(Ownership.run("b", "cd", 0));
    }
}
