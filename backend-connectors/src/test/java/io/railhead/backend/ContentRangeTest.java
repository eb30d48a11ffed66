package io.railhead.backend;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.NullAndEmptySource;
import org.junit.jupiter.params.provider.ValueSource;

class ContentRangeTest {

    @ParameterizedTest
    @CsvSource({"bytes 0-0/1,0,0,1,1", "bytes 100-149/1000,100,149,1000,50",
            "' bytes 5-9/10 ',5,9,10,5",
            "bytes 0-999999999999999998/999999999999999999,0,999999999999999998,"
                    + "999999999999999999,999999999999999999"})
    void whatTheStoreSaysIsWhatIsRead(String header, long first, long last, long size,
            long length) {
        assertThat(ContentRange.tryParse(header)).isEqualTo(new ContentRange(first, last, size));
        assertThat(new ContentRange(first, last, size).lengthBytes()).isEqualTo(length);
    }

    @ParameterizedTest
    @NullAndEmptySource
    @ValueSource(strings = {"bytes */10", "bytes 0-4/*", "bytes 5-4/10", "bytes 0-10/10",
            "bytes 0-9", "bytes -1-4/10", "bytes 0-/10", "bytes=0-4/10", "items 0-4/10",
            "bytes 0-4/10, bytes 5-9/10", "bytes 0-4/10x", "bytes 0 - 4 / 10", "bytes +0-4/10",
            "bytes 0-4/9999999999999999999", "bytes \u0660-\u0664/10", "bytes 0-4/10\n5"})
    void whatLeavesAnythingOpenIsNotRead(String header) {
        assertThat(ContentRange.tryParse(header)).isNull();
    }

    @Test
    void aContradictoryRangeCannotBeMade() {
        assertThatIllegalArgumentException().isThrownBy(() -> new ContentRange(-1, 4, 10));
        assertThatIllegalArgumentException().isThrownBy(() -> new ContentRange(5, 4, 10));
        assertThatIllegalArgumentException().isThrownBy(() -> new ContentRange(0, 10, 10));
    }
}
