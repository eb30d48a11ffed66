"""Gives NVIDIA's multi-storage-client its RDMA functions where its wheel was built without them.

The wheels on PyPI hold the provider s3_cuobject, but their native extension is built without the feature `rdma`, which
adds five functions over libcuobjclient. This adds the same five, by the library's own symbols: no file of the package
is changed. `python msc_rdma.py PROGRAM [ARGUMENT...]` runs a program so; `install()` does it for this process.

The library is found by the loader as libcuobjclient.so.1 (LD_LIBRARY_PATH, or its path in CUOBJCLIENT_LIB).
"""

import ctypes
import os
import runpy
import sys
import threading

DC_V1 = 1001
GET, PUT = 0, 1
# More than any cuObjClient takes: a pointer and reserved words.
OBJECT_BYTES = 4096

SYMBOLS = {
    "_ZN11cuObjClientC1ER10CUObjIOOps15cuObjProto_enum":
        (None, [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int]),
    "_ZN11cuObjClient11isConnectedEv": (ctypes.c_bool, [ctypes.c_void_p]),
    "_ZN11cuObjClient21cuMemObjGetDescriptorEPvm": (ctypes.c_int, [ctypes.c_void_p] * 2 + [ctypes.c_size_t]),
    "_ZN11cuObjClient21cuMemObjPutDescriptorEPv": (ctypes.c_int, [ctypes.c_void_p] * 2),
    "_ZN11cuObjClient20cuMemObjGetRDMATokenEPvmm16cuObjOpType_enumPPc":
        (ctypes.c_int, [ctypes.c_void_p] * 2 + [ctypes.c_size_t] * 2 + [ctypes.c_int, ctypes.c_void_p]),
    "_ZN11cuObjClient20cuMemObjPutRDMATokenEPc": (ctypes.c_int, [ctypes.c_void_p] * 2),
}


class Client:
    """One cuObjClient for the process, made when first asked for, and its tokens by their text."""

    def __init__(self):
        library = ctypes.CDLL(os.environ.get("CUOBJCLIENT_LIB") or "libcuobjclient.so.1")
        functions = []
        for name, (result, arguments) in SYMBOLS.items():
            function = getattr(library, name)
            function.restype, function.argtypes = result, arguments
            functions.append(function)
        construct, self._connected, self._register, self._deregister, self._mint, self._release = functions
        self._operations = (ctypes.c_void_p * 2)()
        self._self = ctypes.create_string_buffer(OBJECT_BYTES)
        self._lock = threading.Lock()
        self._tokens = {}
        construct(self._self, self._operations, DC_V1)

    def available(self):
        return self._connected(self._self)

    def register(self, address, size):
        if self._register(self._self, address, size):
            raise RuntimeError(f"cuMemObjGetDescriptor failed for buffer at 0x{address:x} ({size} bytes)")

    def deregister(self, address):
        if self._deregister(self._self, address):
            raise RuntimeError(f"cuMemObjPutDescriptor failed for buffer at 0x{address:x}")

    def mint(self, address, size, offset, is_put):
        token = ctypes.c_void_p()
        if self._mint(self._self, address, size, offset, PUT if is_put else GET, ctypes.byref(token)):
            raise RuntimeError(f"cuMemObjGetRDMAToken failed for buffer at 0x{address:x} ({size} bytes)")
        text = ctypes.string_at(token.value).decode()
        with self._lock:
            self._tokens.setdefault(text, []).append(token.value)
        return text

    def release(self, text):
        with self._lock:
            held = self._tokens.get(text)
            if not held:
                return
            token = held.pop()
            if not held:
                del self._tokens[text]
        if self._release(self._self, token):
            raise RuntimeError("cuMemObjPutRDMAToken failed")


def install():
    """Adds the functions to the extension; before multistorageclient.providers is imported. False if it has them."""
    from multistorageclient_rust import multistorageclient_rust as extension
    if hasattr(extension, "cuobj_available"):
        return False
    client = Client()
    extension.cuobj_available = client.available
    extension.cuobj_register_buffer = client.register
    extension.cuobj_deregister_buffer = client.deregister
    extension.cuobj_get_rdma_token = client.mint
    extension.cuobj_put_rdma_token = client.release
    return True


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit("usage: msc_rdma.py PROGRAM [ARGUMENT...]")
    install()
    del sys.argv[0]
    sys.path[0] = os.path.dirname(os.path.abspath(sys.argv[0]))
    runpy.run_path(sys.argv[0], run_name="__main__")
