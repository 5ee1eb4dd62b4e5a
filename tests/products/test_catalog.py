"""Product declarations agree with the code they declare."""

import re
from itertools import chain

import pytest
from temporalio import workflow

from cutroom.console.framework.rendering import environment
from cutroom.credits.pricing import UNBUNDLED, Action
from cutroom.jobs.ids import InternalJobType, JobType
from cutroom.products.catalog import PRODUCTS
from cutroom.products.declaration import Product
from dev.environment import PROJECT
from dev.structure.sql_ownership import table_owners

PACKAGE = PROJECT / "cutroom"
UNSOLD = {Action.LIPSYNC}  # priced by the contract, but there is no such product yet


def name_of(product: Product) -> str:
    return product.name


def test_every_job_type_belongs_to_one_product() -> None:
    declared = [job.job_type for product in PRODUCTS for job in product.jobs]
    assert sorted(declared) == sorted([*JobType, *InternalJobType])


@pytest.mark.parametrize("product", PRODUCTS, ids=name_of)
def test_workflows_are_named_after_their_job_type(product: Product) -> None:
    for job in product.jobs:
        definition = workflow._Definition.must_from_class(job.workflow)
        assert definition.name == job.job_type.value


def test_every_sold_action_belongs_to_one_product() -> None:
    declared = list(
        chain.from_iterable({price for job in product.jobs for price in job.prices} for product in PRODUCTS)
    )
    assert sorted(declared) == sorted(set(Action) - UNSOLD)


@pytest.mark.parametrize("product", PRODUCTS, ids=name_of)
def test_owned_tables_are_those_of_the_models_module(product: Product) -> None:
    owners = table_owners(PACKAGE)
    assert set(product.owns.tables) == {table for table, owner in owners.items() if owner == product.name}


@pytest.mark.parametrize("product", PRODUCTS, ids=name_of)
def test_dependencies_are_the_products_that_its_modules_import(product: Product) -> None:
    imported = set()
    for path in (PACKAGE / "products" / product.name).rglob("*.py"):
        if path.name != "product.py":
            imported |= set(re.findall(r"^\s*from cutroom\.products\.(\w+)[. ]", path.read_text(), re.MULTILINE))
    assert {each.name for each in product.depends_on} == imported - {product.name, "declaration", "catalog"}


@pytest.mark.parametrize("product", PRODUCTS, ids=name_of)
def test_priced_products_map_their_requests_to_bundles_and_check_them(product: Product) -> None:
    quoted = {action for job in product.jobs for action in job.prices} - UNBUNDLED
    assert (product.check_bundle is not None) == bool(quoted)
    creates_transcripts = quoted == {Action.TRANSCRIPT}  # by importing a video, without a body of their own
    orders_others = product.name in {"packaging", "ingest"}
    assert (product.to_bundle is not None) == (orders_others or (bool(quoted) and not creates_transcripts))


@pytest.mark.parametrize("product", PRODUCTS, ids=name_of)
def test_panels_have_templates(product: Product) -> None:
    for panel in product.panels:
        assert environment().get_template(panel.template) is not None


def test_the_api_loads_no_engine_library() -> None:
    import subprocess  # noqa: PLC0415
    import sys  # noqa: PLC0415

    code = (
        "import sys, cutroom.entrypoints.api\n"
        "heavy = {'numpy', 'onnxruntime', 'faster_whisper', 'ctranslate2', 'cv2', 'uharfbuzz', 'tokenizers'}\n"
        "print(sorted(heavy & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
