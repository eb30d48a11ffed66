package io.railhead.gateway.object.writeback;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** The newest pending write of a key, which its writer reads. */
class PendingKeysTest {
    private final LogOfTest log = new LogOfTest();
    private final PendingKeys keys = new PendingKeys();

    @AfterEach
    void close() {
        log.close();
    }

    private PendingWrite put(String key) throws Exception {
        PendingWrite write = log.put(key, new byte[10]);
        keys.add(write);
        return write;
    }

    @Test
    void theNewestIsFoundInWhateverOrderTheyEnd() throws Exception {
        PendingWrite first = put("a");
        PendingWrite second = put("a");
        PendingWrite third = put("a");
        assertThat(keys.newest(first.name())).isSameAs(third);
        keys.remove(second);
        assertThat(keys.newest(first.name())).isSameAs(third);
        keys.remove(third);
        assertThat(keys.newest(first.name())).isSameAs(first);
        keys.remove(first);
        assertThat(keys.newest(first.name())).isNull();
        keys.remove(first);
        assertThat(keys.newest(put("a").name())).isNotNull();
    }

    @Test
    void twoSpellingsOfAKeyAreOneObject() throws Exception {
        put("a%2Bb");
        PendingWrite newest = put("a+b");
        assertThat(keys.newest(PendingName.of("store", "ckpt", "a%2Bb"))).isSameAs(newest);
        assertThat(keys.newest(PendingName.of("store", "other", "a%2Bb"))).isNull();
    }

    @Test
    void manyOverwritesOfOneKeyEndInTheirOrder() throws Exception {
        List<PendingWrite> all = new ArrayList<>();
        for (int i = 0; i < 100; i++) {
            all.add(put("a"));
        }
        for (PendingWrite write : all) {
            assertThat(keys.newest(write.name())).isSameAs(all.getLast());
            keys.remove(write);
        }
        assertThat(keys.newest(all.getFirst().name())).isNull();
    }
}
