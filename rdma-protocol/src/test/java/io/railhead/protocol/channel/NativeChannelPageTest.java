package io.railhead.protocol.channel;

import static java.nio.ByteOrder.LITTLE_ENDIAN;
import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;

import io.railhead.protocol.message.EndReason;
import io.railhead.protocol.message.Message;
import io.railhead.protocol.message.MessageCodec;
import io.railhead.protocol.message.MessageHeader;
import io.railhead.protocol.message.Refusal;
import io.railhead.protocol.message.SessionKey;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Locale;
import org.junit.jupiter.api.Test;

/** What docs/native-channel.md shows is what the code says. */
class NativeChannelPageTest {
    private static final Path PAGE = Path.of("..", "docs", "native-channel.md");
    private final ChannelPage page;

    NativeChannelPageTest() throws IOException {
        page = ChannelPage.of(PAGE);
    }

    @Test
    void theHelloIsAsItIsEncoded() throws IOException {
        Message hello = new Message.Hello(ChannelPage.ID, ChannelPage.CLIENT_NONCE);
        assertThat(dump(MessageCodec.encode(hello))).isEqualTo(page.block("hello"));
        assertThat(MessageCodec.decode(page.bytes("hello"))).isEqualTo(hello);
    }

    @Test
    void theRequestsAreAsTheyAreEncoded() throws IOException {
        assertEncoded("requests", ChannelPage.REQUESTS);
        assertEncoded("keys", ChannelPage.KEYS);
        assertEncoded("windows", ChannelPage.WINDOWS);
    }

    private void assertEncoded(String block, List<Request> requests) throws IOException {
        ByteBuffer message = message();
        requests.forEach(request -> assertThat(RequestCodec.tryEncode(request, message)).isTrue());
        assertThat(dump(finished(message, MessageHeader.REQUESTS))).isEqualTo(page.block(block));
        ByteBuffer said = page.bytes(block);
        RequestView view = new RequestView();
        int at = MessageHeader.BYTES;
        for (Request request : requests) {
            at = view.wrap(said, at, said.limit());
            assertThat(view.toRequest()).isEqualTo(request);
        }
        assertThat(at).isEqualTo(said.limit());
    }

    @Test
    void theAnswersAreAsTheyAreEncoded() throws IOException {
        ByteBuffer message = message();
        ChannelPage.ANSWERS
                .forEach(answer -> assertThat(AnswerCodec.tryEncode(answer, message)).isTrue());
        assertThat(dump(finished(message, MessageHeader.ANSWERS))).isEqualTo(page.block("answers"));
        ByteBuffer said = page.bytes("answers").position(MessageHeader.BYTES);
        for (Answer answer : ChannelPage.ANSWERS) {
            assertThat(AnswerCodec.decode(said)).isEqualTo(answer);
        }
        assertThat(said.hasRemaining()).isFalse();
    }

    @Test
    void theKeyAndTheProofsAreAsTheyAreDerived() {
        byte[] signingKey = new byte[32];
        Arrays.fill(signingKey, (byte) 1);
        byte[] key = SessionKey.derive(signingKey, "02".repeat(32), ChannelPage.ID);
        HexFormat hex = HexFormat.of();
        assertThat(page.text()).contains("session key   " + hex.formatHex(key),
                "client proof  " + hex.formatHex(
                        SessionKey
                                .clientProof(key, ChannelPage.ID, ChannelPage.CLIENT_NONCE,
                                        ChannelPage.SERVER_NONCE)
                                .bytes()),
                "server proof  " + hex.formatHex(
                        SessionKey
                                .serverProof(key, ChannelPage.ID, ChannelPage.CLIENT_NONCE,
                                        ChannelPage.SERVER_NONCE)
                                .bytes()));
    }

    @Test
    void everyOperationIsThereUnderItsCode() {
        for (RequestOperation operation : RequestOperation.values()) {
            assertThat(page.text()).contains(operation.code() + " " + operation.name());
        }
        assertThat(RequestOperation.HIGHEST_CODE)
                .isEqualTo(RequestOperation.REMOVALS.code());
    }

    @Test
    void everyReasonIsThereUnderItsCode() {
        String flat = page.text().replaceAll("\\s+", " ");
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
