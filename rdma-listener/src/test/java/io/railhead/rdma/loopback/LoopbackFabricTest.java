package io.railhead.rdma.loopback;

import io.railhead.rdma.FabricContract;
import io.railhead.rdma.FabricRig;
import java.nio.file.Path;
import org.junit.jupiter.api.io.TempDir;

class LoopbackFabricTest extends FabricContract {
    @TempDir
    Path folder;

    @Override
    protected FabricRig start() {
        return LoopbackRig.in(folder);
    }
}
