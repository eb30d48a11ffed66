package io.railhead.protocol.channel;

import static java.nio.ByteOrder.LITTLE_ENDIAN;
import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;

import io.railhead.protocol.message.Bytes32;
import io.railhead.protocol.message.EndReason;
import io.railhead.protocol.message.Message;
import io.railhead.protocol.message.MessageCodec;
import io.railhead.protocol.message.MessageHeader;
import io.railhead.protocol.message.Refusal;
import io.railhead.protocol.message.SessionKey;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** What docs/native-channel.md shows is what the code says. */
class NativeChannelPageTest {
    private static final Path PAGE = Path.of("..", "docs", "native-channel.md");
    private static final String ID = "000102030405060708090a0b0c0d0e0f";
    private static final Bytes32 CLIENT_NONCE = octets(0x20, 1);
    private static final Bytes32 SERVER_NONCE = octets(3, 0);

    private static final List<Request> REQUESTS = List.of(
            Request.get(1, "data", "a/b.bin", 0x11223344, 4096, 65536)
                    .withRange(new RequestRange.Between(0, 99)),
            Request.head(2, "data", "none"));
    private static final List<Answer> ANSWERS = List.of(
            Answer.delivered(1, 206, 100, 1000, 0, 1_700_000_000_000L, "\"5d41\"", "",
                    AnswerOrigin.HIT),
            Answer.failed(2, 404, "NoSuchKey", ""));

    private final String page;

    NativeChannelPageTest() throws IOException {
        page = Files.readString(PAGE);
    }

    private static Bytes32 octets(int first, int step) {
        byte[] bytes = new byte[Bytes32.SIZE];
        for (int i = 0; i < bytes.length; i++) {
            bytes[i] = (byte) (first + i * step);
        }
        return Bytes32.of(bytes);
    }

    @Test
    void theHelloIsAsItIsEncoded() throws IOException {
        Message hello = new Message.Hello(ID, CLIENT_NONCE);
        assertThat(dump(MessageCodec.encode(hello))).isEqualTo(block("hello"));
        assertThat(MessageCodec.decode(bytes("hello"))).isEqualTo(hello);
    }

    @Test
    void theRequestsAreAsTheyAreEncoded() throws IOException {
        ByteBuffer message = message();
        REQUESTS.forEach(
                request -> assertThat(RequestCodec.tryEncode(request, message)).isTrue());
        assertThat(dump(finished(message, MessageHeader.REQUESTS))).isEqualTo(block("requests"));
        ByteBuffer said = bytes("requests");
        RequestView view = new RequestView();
        int at = MessageHeader.BYTES;
        for (Request request : REQUESTS) {
            at = view.wrap(said, at, said.limit());
            assertThat(view.toRequest()).isEqualTo(request);
        }
        assertThat(at).isEqualTo(said.limit());
    }

    @Test
    void theAnswersAreAsTheyAreEncoded() throws IOException {
        ByteBuffer message = message();
        ANSWERS.forEach(answer -> assertThat(AnswerCodec.tryEncode(answer, message)).isTrue());
        assertThat(dump(finished(message, MessageHeader.ANSWERS))).isEqualTo(block("answers"));
        ByteBuffer said = bytes("answers").position(MessageHeader.BYTES);
        for (Answer answer : ANSWERS) {
            assertThat(AnswerCodec.decode(said)).isEqualTo(answer);
        }
        assertThat(said.hasRemaining()).isFalse();
    }

    @Test
    void theKeyAndTheProofsAreAsTheyAreDerived() {
        byte[] signingKey = new byte[32];
        Arrays.fill(signingKey, (byte) 1);
        byte[] key = SessionKey.derive(signingKey, "02".repeat(32), ID);
        HexFormat hex = HexFormat.of();
        assertThat(page).contains("session key   " + hex.formatHex(key),
                "client proof  " + hex.formatHex(
                        SessionKey.clientProof(key, ID, CLIENT_NONCE, SERVER_NONCE).bytes()),
                "server proof  " + hex.formatHex(
                        SessionKey.serverProof(key, ID, CLIENT_NONCE, SERVER_NONCE).bytes()));
    }

    @Test
    void everyReasonIsThereUnderItsCode() {
        String flat = page.replaceAll("\\s+", " ");
        for (EndReason reason : EndReason.values()) {
            assertThat(flat.substring(flat.indexOf("Reasons: 1 peer gone")))
                    .contains(reason.code() + " " + reason.word().replace('_', ' '));
        }
        for (Refusal reason : Refusal.values()) {
            assertThat(flat.substring(flat.indexOf("Reasons of REFUSED:")))
                    .contains(reason.code() + " " + reason.name()
                            .toLowerCase(Locale.ROOT)
                            .replace('_', ' '));
        }
    }

    private static ByteBuffer message() {
        return ByteBuffer.allocate(MessageHeader.MAX_MESSAGE_BYTES)
                .order(LITTLE_ENDIAN)
                .position(MessageHeader.BYTES);
    }

    private static ByteBuffer finished(ByteBuffer message, int type) {
        MessageHeader.put(message, 0, type, message.position() - MessageHeader.BYTES);
        return message.flip();
    }

    private String block(String name) {
        Matcher block = Pattern.compile("```" + name + "\n(.*?)\n```", Pattern.DOTALL)
                .matcher(page);
        assertThat(block.find()).as("a block %s", name).isTrue();
        return block.group(1);
    }

    /** What a block's dump says: its hexadecimal columns. */
    private ByteBuffer bytes(String name) {
        String hex = Pattern.compile("^[0-9a-f]{4}  (.{1,48}).*$", Pattern.MULTILINE)
                .matcher(block(name))
                .replaceAll(line -> line.group(1))
                .replaceAll("\\s", "");
        return ByteBuffer.wrap(HexFormat.of().parseHex(hex)).order(LITTLE_ENDIAN);
    }

    private static String dump(ByteBuffer message) {
        StringBuilder lines = new StringBuilder();
        for (int at = 0; at < message.limit(); at += 16) {
            byte[] line = new byte[Math.min(16, message.limit() - at)];
            message.get(at, line);
            StringBuilder text = new StringBuilder();
            for (byte b : line) {
                text.append(b >= ' ' && b < 0x7f ? new String(new byte[]{b}, US_ASCII) : ".");
            }
            lines.append(String.format("%04x  %-48s %s%n", at,
                    HexFormat.ofDelimiter(" ").formatHex(line), text));
        }
        return lines.toString().stripTrailing();
    }
}
