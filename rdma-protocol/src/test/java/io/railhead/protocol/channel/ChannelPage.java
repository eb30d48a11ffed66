package io.railhead.protocol.channel;

import static java.nio.ByteOrder.LITTLE_ENDIAN;
import static org.assertj.core.api.Assertions.assertThat;

import io.railhead.protocol.message.Bytes32;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HexFormat;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** A text with dumps of messages of the native channel, and the messages that they say. */
record ChannelPage(String text) {
    static final String ID = "000102030405060708090a0b0c0d0e0f";
    static final Bytes32 CLIENT_NONCE = octets(0x20, 1);
    static final Bytes32 SERVER_NONCE = octets(3, 0);
    static final List<Request> REQUESTS = List.of(
            Request.get(1, "data", "a/b.bin", 0x11223344, 4096, 65536)
                    .withRange(new RequestRange.Between(0, 99)),
            Request.head(2, "data", "none"));
    static final List<Request> KEYS = List.of(
            Request.ofKeys(3, RequestOperation.EXISTS, "kv-a", "m@",
                    KeyBlock.ofHashes(4, HexFormat.of().parseHex("00ff10a001234567"))),
            Request.ofKeys(4, RequestOperation.DELETE, "kv-a", "",
                    KeyBlock.ofTexts(List.of("a", "b/c"))));
    static final List<Request> WINDOWS = List.of(Request.get(5, "kv-a", "m@1",
            List.of(new RequestWindow(0x11223344, 4096, 65536),
                    new RequestWindow(0x11223344, 1 << 20, 65536))));
    static final List<Answer> ANSWERS = List.of(
            Answer.delivered(1, 206, 100, 1000, 0, 1_700_000_000_000L, "\"5d41\"", "",
                    AnswerOrigin.HIT),
            Answer.failed(2, 404, "NoSuchKey", ""));

    static ChannelPage of(Path file) throws IOException {
        return new ChannelPage(Files.readString(file));
    }

    private static Bytes32 octets(int first, int step) {
        byte[] bytes = new byte[Bytes32.SIZE];
        for (int i = 0; i < bytes.length; i++) {
            bytes[i] = (byte) (first + i * step);
        }
        return Bytes32.of(bytes);
    }

    String block(String name) {
        Matcher block = Pattern.compile("```" + name + "\n(.*?)\n```", Pattern.DOTALL)
                .matcher(text);
        assertThat(block.find()).as("a block %s", name).isTrue();
        return block.group(1);
    }

    /** Returns a block's dump: its hexadecimal columns. */
    ByteBuffer bytes(String name) {
        String hex = Pattern.compile("^[0-9a-f]{4}  (.{1,48}).*$", Pattern.MULTILINE)
                .matcher(block(name))
                .replaceAll(line -> line.group(1))
                .replaceAll("\\s", "");
        return ByteBuffer.wrap(HexFormat.of().parseHex(hex)).order(LITTLE_ENDIAN);
    }
}
