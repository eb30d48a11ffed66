package io.railhead.benchmarks.pagesize;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import io.railhead.benchmarks.pagesize.ReferenceMix.Kind;
import io.railhead.gateway.config.ConfigException;
import io.railhead.gateway.config.ConfigLoader;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class SlotWasteTest {
    private static final double MOST = 0.12;

    @Test
    void atMostTwelvePercentOfTheReferenceMixIsWastedAtTheDefaultPageSize() {
        SlotWaste waste = SlotWaste.of(ReferenceMix.read(), PageSizes.DEFAULT_BYTES);
        assertThat(waste.ratio()).isBetween(0.0, MOST);
    }

    @Test
    void memoryThatHasBeenFullForLongLosesAtMostTwelvePercentAtTheDefaultPageSize() {
        Churn.Result churned = Churn.run(ReferenceMix.read(), PageSizes.DEFAULT_BYTES, 64L << 20,
                1);
        assertThat(churned.lostRatio()).isBetween(0.0, MOST);
    }

    @Test
    void theDefaultPageSizeIsTheConfigurations(@TempDir Path folder)
            throws IOException, ConfigException {
        Files.writeString(folder.resolve("credentials.yaml"), "");
        Path yaml = Files.writeString(folder.resolve("railhead.yaml"), """
                gateway:
                  credentials: credentials.yaml
                backends:
                  store:
                    endpoints: ["http://127.0.0.1:1"]
                """);
        assertThat(ConfigLoader.load(yaml).cache().page().bytes())
                .isEqualTo(PageSizes.DEFAULT_BYTES);
    }

    @Test
    void whatAnObjectDoesNotFillOfItsSlotsIsWaste() {
        ReferenceMix mix = new ReferenceMix(List.of(new Kind(1024, 3, "small")));
        assertThat(SlotWaste.of(mix, 64 << 10).ratio()).isCloseTo(0.75, within(1e-9));
    }

    @Test
    void aTailTakesSmallSlotsOnly() {
        ReferenceMix mix = new ReferenceMix(List.of(new Kind((64 << 10) + 1, 1, "one over")));
        assertThat(SlotWaste.of(mix, 64 << 10).heldBytes()).isEqualTo((64 << 10) + 4096);
    }

    @Test
    void aRowThatIsNotThreeFieldsIsNamed() {
        assertThatThrownBy(
                () -> ReferenceMix.parse(List.of("# a note", "size_bytes,count,what", "1,2")))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("1,2");
    }
}
