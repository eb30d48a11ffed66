package io.railhead.rdma.dc;

import io.railhead.rdma.FabricContract;
import io.railhead.rdma.FabricRig;
import java.io.IOException;

class DcFabricTest extends FabricContract {

    @Override
    protected FabricRig start() throws IOException {
        return DcRig.start();
    }
}
