"""verl's supervised trainer reads parquet only: python verl_parquet.py DIR writes one beside each .json of an export."""
import pathlib
import sys

from datasets import load_dataset

folder = pathlib.Path(sys.argv[1])
for name in ("stage1", "stage2", "stage3", "test"):
    rows = load_dataset("json", data_files=str(folder / f"{name}.json"), split="train")
    rows.to_parquet(str(folder / f"{name}.parquet"))
    print(f"{name}.parquet: {len(rows)} rows")
