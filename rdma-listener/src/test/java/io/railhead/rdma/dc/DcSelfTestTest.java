package io.railhead.rdma.dc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.railhead.os.verbs.FakeMlx5;
import io.railhead.os.verbs.PortAttributes;
import io.railhead.os.verbs.RequiresRdmaCore;
import java.io.IOException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(120)
@RequiresRdmaCore
class DcSelfTestTest {
    private FakeMlx5 adapter;

    @BeforeEach
    void open() throws IOException {
        adapter = FakeMlx5.open();
    }

    @AfterEach
    void nothingIsLeft() {
        assertThat(adapter.initiators()).isZero();
        assertThat(adapter.objects()).isZero();
        assertThat(adapter.registrations()).isZero();
        adapter.close();
    }

    private DcSelfTest.Outcome run() throws IOException {
        return new DcSelfTest(DcRig.config(), adapter.verbs(), adapter, DcRig::devices).run();
    }

    @Test
    void bytesGoBothWaysAndAreCompared() throws IOException {
        DcSelfTest.Outcome outcome = run();
        assertThat(outcome.bytes()).isEqualTo(1 << 20);
        assertThat(outcome.mtu()).isEqualTo(4096);
        assertThat(adapter.posted()).extracting(FakeMlx5.Posted::isWrite)
                .containsExactly(true, false);
    }

    @Test
    void bytesThatCompleteAndDoNotArriveAreMissed() {
        adapter.moveNothing();
        assertThatThrownBy(this::run).isInstanceOf(IOException.class)
                .hasMessageStartingWith("what was written completed and is not there from byte");
    }

    @Test
    void whatTheAdapterRefusesIsSaid() {
        adapter.fail("mlx5dv_create_qp", 95);
        assertThatThrownBy(this::run).isInstanceOf(IOException.class)
                .hasMessageContaining("mlx5dv_create_qp");
        adapter.fail("mlx5dv_create_qp", 0);
        adapter.setPort(new PortAttributes(1, 5, 4, 0, 2));
        assertThatThrownBy(this::run).hasMessage("mlx5_0 port 1 is down");
    }
}
