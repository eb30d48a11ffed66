package io.railhead.rdma.session;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.HashMap;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class RegionTableTest {

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3})
    void aTableIsAMapThatNobodyChanges(long seed) {
        Random random = new Random(seed);
        RegionTable table = RegionTable.EMPTY;
        Map<Integer, MemoryRegion> model = new HashMap<>();
        for (int i = 0; i < 3000; i++) {
            int key = (1 + random.nextInt(60)) << (seed == 1 ? 0 : 10);
            RegionTable before = table;
            MemoryRegion had = model.get(key);
            if (had == null) {
                MemoryRegion memoryRegion = new TestRegion(0, 1);
                table = table.with(key, memoryRegion);
                model.put(key, memoryRegion);
            } else {
                table = table.without(key);
                model.remove(key);
            }
            assertThat(before.find(key)).isSameAs(had);
            assertThat(table.find(key)).isSameAs(model.get(key));
            assertThat(table.size()).isEqualTo(model.size());
            assertThat(table.regions()).containsExactlyInAnyOrderElementsOf(model.values());
            assertThat(table.find(0)).isNull();
        }
    }
}
