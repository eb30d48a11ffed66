package io.railhead.protocol.channel;

import static io.railhead.protocol.channel.ChannelPage.ANSWERS;
import static io.railhead.protocol.channel.ChannelPage.CLIENT_NONCE;
import static io.railhead.protocol.channel.ChannelPage.ID;
import static io.railhead.protocol.channel.ChannelPage.REQUESTS;
import static io.railhead.protocol.channel.ChannelPage.SERVER_NONCE;
import static org.assertj.core.api.Assertions.assertThat;

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
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Messages of releases before, kept in {@code deploy/upgrade}, mean the same to today's version.
 */
final class KeptChannelTest {
    private static final Path KEPT = Path.of("..", "deploy", "upgrade");
    private static final Pattern REASON = Pattern.compile("(\\d+) ([a-z ]+)");

    static List<Path> releases() throws IOException {
        try (Stream<Path> versions = Files.list(KEPT)) {
            return versions.map(version -> version.resolve("native-channel.txt"))
                    .filter(Files::isRegularFile)
                    .sorted()
                    .toList();
        }
    }

    @ParameterizedTest
    @MethodSource("releases")
    void messagesOfAReleaseBeforeAreRead(Path kept) throws IOException {
        ChannelPage page = ChannelPage.of(kept);
        assertThat(MessageCodec.decode(page.bytes("hello")))
                .isEqualTo(new Message.Hello(ID, CLIENT_NONCE));
        ByteBuffer requests = page.bytes("requests");
        List<Request> read = new ArrayList<>();
        RequestView view = new RequestView();
        for (int at = MessageHeader.BYTES; at < requests.limit();) {
            at = view.wrap(requests, at, requests.limit());
            read.add(view.toRequest());
        }
        assertThat(read).isEqualTo(REQUESTS);
        ByteBuffer answers = page.bytes("answers").position(MessageHeader.BYTES);
        List<Answer> answered = new ArrayList<>();
        while (answers.hasRemaining()) {
            answered.add(AnswerCodec.decode(answers));
        }
        assertThat(answered).isEqualTo(ANSWERS);
    }

    @ParameterizedTest
    @MethodSource("releases")
    void proofsOfAReleaseBeforeAreTheSame(Path kept) throws IOException {
        byte[] signingKey = new byte[32];
        Arrays.fill(signingKey, (byte) 1);
        byte[] key = SessionKey.derive(signingKey, "02".repeat(32), ID);
        HexFormat hex = HexFormat.of();
        assertThat(ChannelPage.of(kept).text()).contains("session key   " + hex.formatHex(key),
                "client proof  " + hex.formatHex(
                        SessionKey.clientProof(key, ID, CLIENT_NONCE, SERVER_NONCE).bytes()),
                "server proof  " + hex.formatHex(
                        SessionKey.serverProof(key, ID, CLIENT_NONCE, SERVER_NONCE).bytes()));
    }

    @ParameterizedTest
    @MethodSource("releases")
    void noReasonOfAReleaseBeforeIsRenumbered(Path kept) throws IOException {
        String text = ChannelPage.of(kept).text();
        Map<Integer, String> refusals = reasons(text, "Reasons of REFUSED: ");
        Map<Integer, String> ends = reasons(text, "Reasons: ");
        for (Refusal reason : Refusal.values()) {
            assertThat(refusals.getOrDefault(reason.code(), words(reason.name())))
                    .startsWith(words(reason.name()));
            refusals.remove(reason.code());
        }
        for (EndReason reason : EndReason.values()) {
            assertThat(ends.getOrDefault(reason.code(), words(reason.word())))
                    .startsWith(words(reason.word()));
            ends.remove(reason.code());
        }
        assertThat(refusals).as("reasons that are gone").isEmpty();
        assertThat(ends).as("reasons that are gone").isEmpty();
    }

    private static Map<Integer, String> reasons(String text, String opening) {
        Matcher reason = REASON.matcher(text.lines()
                .filter(line -> line.startsWith(opening))
                .findFirst()
                .orElseThrow());
        Map<Integer, String> reasons = new TreeMap<>();
        while (reason.find()) {
            reasons.put(Integer.valueOf(reason.group(1)), reason.group(2).strip());
        }
        assertThat(reasons).hasSizeGreaterThan(5);
        return reasons;
    }

    private static String words(String name) {
        return name.toLowerCase(Locale.ROOT).replace('_', ' ');
    }
}
