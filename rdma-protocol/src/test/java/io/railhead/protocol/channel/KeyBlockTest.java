package io.railhead.protocol.channel;

import static java.nio.ByteOrder.LITTLE_ENDIAN;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.railhead.protocol.message.MessageException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.Collections;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The keys of many objects in one record, and the bits that answer them. */
class KeyBlockTest {

    private static KeyBlock read(KeyBlock keys) throws MessageException {
        ByteBuffer message = ByteBuffer.allocate(4088).order(LITTLE_ENDIAN);
        Request request = Request.ofKeys(7, RequestOperation.EXISTS, "kv-a", "p/", keys);
        assertThat(RequestCodec.tryEncode(request, message)).isTrue();
        RequestView view = new RequestView();
        assertThat(view.wrap(message, 0, message.position())).isEqualTo(message.position());
        assertThat(view.toRequest()).isEqualTo(request);
        return view.keys();
    }

    @Test
    void textsComeBackBehindTheirPrefix() throws MessageException {
        KeyBlock keys = read(KeyBlock.ofTexts(List.of("a", "b/c", "é轨", "a")));
        assertThat(keys.keys("p/")).containsExactly("p/a", "p/b/c", "p/é轨", "p/a");
    }

    @Test
    void hashesComeBackAsHexadecimalDigits() throws MessageException {
        byte[] hashes = HexFormat.of().parseHex("00ff10a0".repeat(2) + "0123456789abcdef");
        KeyBlock keys = read(KeyBlock.ofHashes(8, hashes));
        assertThat(keys.keys("m@")).containsExactly("m@00ff10a000ff10a0", "m@0123456789abcdef");
    }

    @Test
    void aMessageHoldsOverAHundredHashesOf32Bytes() throws MessageException {
        byte[] hashes = new byte[120 * 32];
        assertThat(read(KeyBlock.ofHashes(32, hashes)).keys("")).hasSize(120);
    }

    @ParameterizedTest
    @ValueSource(strings = {
            "                    | count and hash bytes",
            "00                  | count and hash bytes",
            "00000000            | count of keys must be 1 to 1024: 0",
            "01040000            | count of keys must be 1 to 1024: 1025",
            "01002000aabb        | must fill the keys",
            "0100020041424344    | must fill the keys",
            "01004100            | hash bytes must be at most 64",
            "010000000300414243ff | 1 bytes are left",
            "0100000004004142    | lie within the keys",
            "01000000            | have its length",
            "010000000100ff      | UTF-8",
            "010000000000        | must not be empty"})
    void nothingIsReadThatABlockOnlyClaims(String row) {
        String[] columns = row.split("\\|", -1);
        byte[] bytes = HexFormat.of().parseHex(columns[0].strip());
        KeyBlock block = KeyBlock.copy(ByteBuffer.wrap(bytes), 0, bytes.length);
        assertThatThrownBy(() -> block.keys("")).isInstanceOf(MessageException.class)
                .hasMessageContaining(columns[1].strip());
    }

    @Test
    void aPrefixAloneIsAKey() throws MessageException {
        byte[] bytes = HexFormat.of().parseHex("010000000000");
        assertThat(KeyBlock.copy(ByteBuffer.wrap(bytes), 0, 6).keys("p")).containsExactly("p");
    }

    @Test
    void requestsOfOneObjectHaveNoKeys() {
        assertThatThrownBy(() -> Request.ofKeys(1, RequestOperation.EXISTS, "b", "", KeyBlock.NONE))
                .hasMessageContaining("keys must be there");
        assertThatThrownBy(() -> Request.ofKeys(1, RequestOperation.DELETE_PREFIX, "b", "",
                KeyBlock.ofTexts(List.of("a")))).hasMessageContaining("keys must be there");
    }

    @Test
    void aRecordWithoutItsKeysIsRefused() {
        ByteBuffer message = ByteBuffer.allocate(200).order(LITTLE_ENDIAN);
        assertThat(RequestCodec.tryEncode(Request.ofKeys(1, RequestOperation.DELETE_PREFIX, "b", "",
                KeyBlock.NONE), message)).isTrue();
        message.put(RequestLayout.OPERATION, (byte) RequestOperation.DELETE.code());
        assertThatThrownBy(() -> new RequestView().wrap(message, 0, message.position()))
                .isInstanceOf(MessageException.class)
                .hasMessageContaining("keys must be there");
    }

    @Test
    void aLeaseHasItsTimeAndOthersHaveNone() throws MessageException {
        ByteBuffer message = ByteBuffer.allocate(200).order(LITTLE_ENDIAN);
        Request lease = Request.lease(1, "b", "p", KeyBlock.ofTexts(List.of("a")), 30_000);
        assertThat(RequestCodec.tryEncode(lease, message)).isTrue();
        RequestView view = new RequestView();
        assertThat(view.wrap(message, 0, message.position())).isEqualTo(message.position());
        assertThat(view.toRequest()).isEqualTo(lease);
        message.put(RequestLayout.OPERATION, (byte) RequestOperation.TOUCH.code());
        assertMalformed(message);
        message.put(RequestLayout.OPERATION, (byte) RequestOperation.LEASE.code())
                .putInt(RequestLayout.PART_NUMBER, 0);
        assertMalformed(message);
        assertMalformed(message.putInt(RequestLayout.PART_NUMBER, -1));
    }

    private static void assertMalformed(ByteBuffer message) {
        assertThatThrownBy(() -> new RequestView().wrap(message, 0, message.position()))
                .isInstanceOf(MessageException.class)
                .hasMessageContaining(
                        "part number must be from 1 for UPLOAD_PART, LEASE and REMOVALS");
    }

    @Test
    void aUsageComesBackFromItsAnswer() throws MessageException {
        KeyUsage usage = new KeyUsage(3, 12_288, 4096, 1L << 40);
        ByteBuffer message = ByteBuffer.allocate(400).order(LITTLE_ENDIAN);
        assertThat(AnswerCodec.tryEncode(usage.answer(7), message)).isTrue();
        assertThat(KeyUsage.of(AnswerCodec.decode(message.flip()))).isEqualTo(usage);
        assertThatThrownBy(() -> KeyUsage.of(Answer.declined(7, "unsupported")))
                .isInstanceOf(NumberFormatException.class);
    }

    @Test
    void heldKeysAreBits() {
        BitSet held = new BitSet();
        held.set(0);
        held.set(9);
        assertThat(HeldKeys.format(held, 10)).isEqualTo("0102");
        assertThat(HeldKeys.parse("0102")).isEqualTo(held);
        assertThat(HeldKeys.format(new BitSet(), 1024)).isEqualTo("00".repeat(128));
    }

    @Test
    void asManyKeysAsARecordHoldsFitTheirAnswer() {
        List<String> keys = new ArrayList<>(Collections.nCopies(KeyBlock.MAX_KEYS, "k"));
        ByteBuffer message = ByteBuffer.allocate(4088).order(LITTLE_ENDIAN);
        assertThat(RequestCodec.tryEncode(
                Request.ofKeys(1, RequestOperation.EXISTS, "b", "", KeyBlock.ofTexts(keys)),
                message)).isTrue();
        assertThat(AnswerCodec.tryEncode(Answer.ofKeys(1, 0, Map.of(HeldKeys.HEADER,
                HeldKeys.format(new BitSet(), KeyBlock.MAX_KEYS))), message.clear())).isTrue();
    }
}
