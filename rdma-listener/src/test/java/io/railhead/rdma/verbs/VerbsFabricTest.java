package io.railhead.rdma.verbs;

import io.railhead.rdma.FabricContract;
import io.railhead.rdma.FabricRig;
import java.io.IOException;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;

@Tag("verbs")
final class VerbsFabricTest extends FabricContract {

    @BeforeAll
    static void devices() throws IOException {
        VerbsRig.requireDevices();
    }

    @Override
    protected FabricRig start() throws IOException {
        return VerbsRig.start();
    }
}
