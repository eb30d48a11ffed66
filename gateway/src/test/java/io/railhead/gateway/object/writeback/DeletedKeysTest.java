package io.railhead.gateway.object.writeback;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;

/** The keys that a DeleteObjects may have changed. */
class DeletedKeysTest {

    private static ByteBuffer list(String document) {
        return ByteBuffer.wrap(document.getBytes(StandardCharsets.UTF_8));
    }

    @Test
    void allKeysOfTheListAreKnownAndTheListStaysAsItIs() {
        ByteBuffer list = list("<Delete><Object><Key>a b</Key></Object><Object><Key>c</Key>"
                + "<VersionId>1</VersionId></Object></Delete>");
        int bytes = list.remaining();
        assertThat(DeletedKeys.all(list)).containsExactlyInAnyOrder("a b", "c");
        assertThat(list.remaining()).isEqualTo(bytes);
    }

    @Test
    void whatIsNoListMayBeAboutAnyKey() {
        assertThat(DeletedKeys.all(list("<Delete><Object>"))).containsExactly("");
    }
}
