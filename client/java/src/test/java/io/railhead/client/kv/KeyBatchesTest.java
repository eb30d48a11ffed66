package io.railhead.client.kv;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.railhead.protocol.channel.Request;
import io.railhead.protocol.channel.RequestCodec;
import io.railhead.protocol.channel.RequestOperation;
import io.railhead.protocol.message.MessageException;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class KeyBatchesTest {
    private static final int MESSAGE_ROOM = 4088;

    private static List<String> unpacked(String prefix, List<String> keys)
            throws MessageException {
        List<String> unpacked = new ArrayList<>();
        for (KeyBatches.Batch batch : KeyBatches.of("kv-a", prefix, keys)) {
            assertThat(batch.first()).isEqualTo(unpacked.size());
            String[] whole = batch.keys().keys(batch.prefix());
            assertThat(whole).hasSize(batch.count());
            unpacked.addAll(List.of(whole));
            assertThat(RequestCodec.recordBytes(Request.ofKeys(1, RequestOperation.EXISTS, "kv-a",
                    batch.prefix(), batch.keys()))).isLessThanOrEqualTo(MESSAGE_ROOM);
        }
        return unpacked;
    }

    @Test
    void hashesTakeHalfTheRoomOfTheirDigits() throws MessageException {
        List<String> keys = new ArrayList<>();
        byte[] hash = new byte[32];
        Random random = new Random(1);
        for (int i = 0; i < 512; i++) {
            random.nextBytes(hash);
            keys.add("m@" + HexFormat.of().formatHex(hash));
        }
        assertThat(unpacked("p/", keys))
                .isEqualTo(keys.stream().map(key -> "p/" + key).toList());
        assertThat(KeyBatches.of("kv-a", "p/", keys)).hasSize(5);
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4})
    void anyKeysComeOutAsTheyWentIn(long seed) throws MessageException {
        Random random = new Random(seed);
        String[] pieces = {"0", "f", "ab", "AB", "g", "/", "ä", "😀", "😁", "\uffff"};
        for (int round = 0; round < 200; round++) {
            String common = text(random, pieces, random.nextInt(4));
            List<String> keys = new ArrayList<>();
            int count = 1 + random.nextInt(60);
            for (int i = 0; i < count; i++) {
                keys.add(common + text(random, pieces, 1 + random.nextInt(40)));
            }
            assertThat(unpacked("ü/", keys)).as("seed " + seed + ", round " + round)
                    .isEqualTo(keys.stream().map(key -> "ü/" + key).toList());
        }
    }

    private static String text(Random random, String[] pieces, int count) {
        StringBuilder text = new StringBuilder();
        for (int i = 0; i < count; i++) {
            text.append(pieces[random.nextInt(pieces.length)]);
        }
        return text.toString();
    }

    @Test
    void moreKeysThanARequestHasTakeMoreRequests() throws MessageException {
        List<String> keys = new ArrayList<>();
        for (int i = 0; i < 1500; i++) {
            keys.add("" + (char) ('g' + i % 20));
        }
        assertThat(unpacked("", keys)).isEqualTo(keys);
        assertThat(KeyBatches.of("kv-a", "", keys)).hasSize(2);
    }

    @Test
    void aKeyThatNoMessageHoldsIsRefused() {
        assertThatThrownBy(() -> KeyBatches.of("kv-a", "", List.of("k".repeat(5000))))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("a key is too long for a message: 5000 bytes");
        assertThatThrownBy(() -> KeyBatches.of("kv-a", "p", List.of("a", "")))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("key must not be empty");
        assertThat(KeyBatches.of("kv-a", "p", List.of())).isEmpty();
    }
}
