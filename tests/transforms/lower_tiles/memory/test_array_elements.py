"""`memref.load` and `memref.store` of single elements in kernels on tiles, at both levels."""

import numpy as np

import tileas_xdsl as tileas

KERNEL = """
func.func @k(%places: memref<64x?xi32>, %x: memref<128xf32>, %y: memref<128xf32>) {
  %c0 = arith.constant 0 : index
  %c3 = arith.constant 3 : index
  %n = memref.load %places[%c3, %c0] : memref<64x?xi32>
  %i = arith.index_cast %n : i32 to index
  %v = memref.load %x[%i] : memref<128xf32>
  memref.store %v, %y[%c3] : memref<128xf32>
  func.return
}
"""


def test_an_element_is_loaded_and_stored() -> None:
    kernel = tileas.compile(KERNEL, target="sm_90a")
    places = np.zeros((64, 5), np.int32)
    places[3, 0] = 17
    x = np.random.default_rng(0).random(128, np.float32)
    wanted = np.zeros(128, np.float32)
    wanted[3] = x[17]
    for run in (kernel.simulate, kernel.emulate):
        found = run(places, x, np.zeros(128, np.float32), grid=1).arrays[-1]
        np.testing.assert_array_equal(found, wanted)
