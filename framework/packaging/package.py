"""Recipe of loom for Spack.

Put this file into packages/loom/ of a repository of Spack (`spack repo create`), then, from the top of the sources:

    spack dev-build loom@0.2.0
"""

from spack.package import *


class Loom(CMakePackage):
    """A research framework for cloth simulation: published solvers and contact methods on the same scenes."""

    license("MIT")

    version("0.2.0")

    variant("gpl", default=True, description="Plugins that link CHOLMOD, and Gmsh for sewing patterns")
    variant("rigs", default=True, description="Reads skinned, animated bodies")
    variant("native", default=True, description="For the processor of the build")
    variant("cuda", default=False, description="Kernels for NVIDIA GPUs")

    depends_on("c", type="build")
    depends_on("cmake@3.25:", type="build")
    depends_on("ninja", type="build")
    depends_on("hdf5~mpi")
    depends_on("iniparser")
    depends_on("jansson")
    depends_on("gmp")
    depends_on("suite-sparse", when="+gpl")
    depends_on("blas", when="+gpl")
    depends_on("lapack", when="+gpl")
    depends_on("arpack-ng~mpi", when="+gpl")
    depends_on("gmsh", when="+gpl")
    depends_on("assimp", when="+rigs")
    depends_on("cuda", when="+cuda")
    depends_on("python@3.11:", type="run")
    depends_on("py-h5py", type="run")
    depends_on("py-numpy", type="run")
    depends_on("py-pandas", type="run")

    generator("ninja")

    def cmake_args(self):
        return [
            self.define("LOOM_TESTS", False),
            self.define_from_variant("LOOM_NATIVE", "native"),
            self.define("LOOM_CUDA", "ON" if "+cuda" in self.spec else "OFF"),
        ]
